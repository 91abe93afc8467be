"""What notes of answers say, each fact a code; `podsim.model.sentences` and `study_sentences` have its sentence."""

from enum import StrEnum, auto


class NoteCode(StrEnum):
    """The facts that an answer assumes or leaves out."""

    # Any answer.
    FILE_TEXT = auto()
    FILE_VALUE = auto()
    GIVEN = auto()

    # The machine and its software.
    CHIP_DEFAULT = auto()
    CHIP_NOT_CALIBRATED = auto()
    SDK_DEFAULT = auto()
    SDK_CLAIMED = auto()
    SDK_CLAIMED_FOR_OTHERS = auto()
    SDK_EXTRAPOLATED = auto()
    HOSTS = auto()
    HOSTS_OTHER = auto()
    HOSTS_OF_PRESET = auto()
    HOSTS_OF_MACHINE = auto()
    HOSTS_BETWEEN = auto()
    HOSTS_NOT_STATED = auto()
    HOSTS_AS_PUBLISHED = auto()
    PART_OF_MACHINE = auto()
    PART_OF_RACK = auto()
    RACKS_JOINED = auto()
    STATED_FABRIC = auto()

    # The workload.
    CONVOLUTIONS_UNMEASURED = auto()
    CONVOLUTIONS_CALIBRATED = auto()
    LENGTH_NOT_STATED = auto()
    CONFIGURATION_GENERAL = auto()
    CONFIGURATION_OF_SAME = auto()
    CONFIGURATION_OF_LONGER = auto()
    CONFIGURATION_OF_NEAREST = auto()
    ROW_INPUT = auto()
    LARGE_POD = auto()
    MINIMUM_IPUS = auto()

    # The mapping and why it is taken.
    AS_PUBLISHED = auto()
    SHORTEST_TIME = auto()
    SOME_IDLE = auto()
    ALL_TOO_MANY = auto()
    ALL_DO_NOT_DIVIDE = auto()
    ALL_NEED_SAMPLES = auto()
    ALL_SPEND_MORE = auto()
    ALL_GAIN_LITTLE = auto()
    OF_RUN_TO_TARGET = auto()
    KEPT_WITH_FAULTS = auto()
    IPUS_IDLE = auto()
    NEAR_GLOBAL_BATCH = auto()
    FEW_UPDATES = auto()

    # How a step is stored and scheduled.
    CONFIGURATION = auto()
    STATE_STORAGE = auto()
    MEMORY_LOWERED = auto()
    WEIGHTS_STREAMED = auto()
    HALF_LAYERS = auto()
    SCHEDULE_GIVEN = auto()
    FRAMEWORK_GIVEN = auto()
    PREFETCH_GIVEN = auto()
    PREFETCH_UNUSED = auto()
    OVERLAP_GIVEN = auto()
    IO_TILES = auto()
    OTHER_COLLECTIVES = auto()
    OTHER_STEP_CALLS = auto()
    LARGE_POD_OFFERED = auto()

    # The global batch.
    GLOBAL_BATCH_TOO_LARGE = auto()
    GLOBAL_BATCH_DOES_NOT_DIVIDE = auto()
    GLOBAL_BATCH_OF_RECIPE = auto()
    GLOBAL_BATCH_OF_PAPER = auto()
    GLOBAL_BATCH_UNLIKE_PAPER = auto()
    GLOBAL_BATCH_OF_NEAREST_MAPPING = auto()
    GLOBAL_BATCH_QUICKEST = auto()
    RECIPE_OF_PAPER = auto()
    RECIPE_OF_SAME = auto()
    RECIPE_AS_MANY_TOKENS = auto()
    RECIPE_ROUND_NUMBER = auto()

    # How long a run is.
    SAMPLES = auto()
    SAMPLES_FIXED = auto()
    SAMPLES_OF_REFERENCE = auto()
    SAMPLES_WITHOUT_FACTOR = auto()
    SAMPLES_WITH_FACTOR = auto()
    SAMPLES_BY_LAW = auto()
    SAMPLES_BY_LAW_AT_GLOBAL_BATCH = auto()
    SAMPLES_OF_POINTS = auto()
    OF_ONE_RUN = auto()
    LONGEST_RUN = auto()
    ERRORS_SHARED = auto()

    # The wall clock and failures.
    DATA_SET_OPENING = auto()
    ONE_COPY_OF_WEIGHTS = auto()
    EXECUTABLE_CACHED = auto()
    EXECUTABLE_OF_SMALL_PROGRAM = auto()
    COMPILE_TIMES_OF_OTHERS = auto()
    FAILURES_LEFT_OUT = auto()
    FAILURES_IN_TIME = auto()
    FAILURE_RATES = auto()

    # Machines without IPUs.
    COMPARATOR_ROUND = auto()
    COMPARATOR_GLOBAL_BATCH = auto()
    COMPARATOR_GLOBAL_BATCH_BY_LAW = auto()
    COMPARATOR_EVALUATIONS = auto()
    COMPARATOR_REFUSED = auto()
    COMPARATORS_LEFT_OUT = auto()

    # What limits a run or a batch that is served.
    LONGEST_PARTS = auto()
    FEW_MICRO_BATCHES = auto()
    INPUTS_TOO_SLOW = auto()
    INPUTS_SLOWER_THAN_WORK = auto()
    LARGER_GLOBAL_BATCH_IS_FASTER = auto()
    TWICE_THE_GLOBAL_BATCH_IS_SLOWER = auto()
    LARGER_GLOBAL_BATCH_AMORTIZES = auto()
    LATENCY_PARTS = auto()
    HOST_LINK_IS_FULL = auto()

    # Serving.
    LOAD_DEFAULT = auto()
    ARRIVALS = auto()
    ARRIVALS_SPLIT = auto()
    SERVING_TIMES_VARY = auto()
    ONE_WORKLOAD_SERVED = auto()
    PROMPTS_AS_TRAINED = auto()
    PROMPTS_AS_LEARNED = auto()
    ONE_SIZE_COMPILED = auto()
    FRAMEWORK_LEFT_OUT = auto()
    FRAMEWORK_AS_IN_TRAINING = auto()
    NEXT_TOKEN_ON_IPU = auto()
    RESULTS_TO_HOST = auto()
    ALL_OPERATORS_RUN = auto()
    NORMS_FOLDED = auto()
    HOST_LINKS_SHARED = auto()
    BUSIEST_STAGE = auto()
    WEIGHTS_READ_FIRST = auto()
    CACHE_READ = auto()

    PACKING_KEPT = auto()
    GW_LINKS_UNUSED = auto()

    # Price and power.
    PRICE_UNCHANGED = auto()
    PRICE_OF_ANOTHER_CHIP = auto()
    PRICE_WHOLE = auto()
    OWNED_SUNK = auto()
    OWNED_JOINED = auto()
    OWNED_HOSTS = auto()

    # Machines of growing size.
    DOUBLINGS_STOP = auto()

    # Two answers apart.
    SCHEMA_CHANGED = auto()
    INPUTS_NOT_NAMED = auto()
    FILES_CHANGED = auto()
    PREDICTION_CHANGED = auto()
    NOT_PREDICTED_AGAIN = auto()

    # What a trace or a collective leaves out.
    NOISE_STRETCHES = auto()
    SPANS_LEFT_OUT = auto()
    LANES_LEFT_OUT = auto()
    LOADS_NOT_KEPT = auto()
    LOADS_NOT_DRAWN = auto()
    LINKS_LEFT_OUT = auto()
    LINKS_OF_REPLICAS = auto()
    ONE_RANK_FOR_ALL = auto()
    ONE_RACK_FOR_ALL = auto()
    LINKS_ALONE = auto()
    FITTED_IN_TRAINING = auto()
    CLOCKS_LEFT_OUT = auto()


class Rejection(StrEnum):
    """Why a search leaves mappings out; the values are keys of JSON."""

    TOO_MANY_IPUS = "have more IPUs per replica than the model has parts to place, such as layers"
    TOO_FEW_IPUS = "need more IPUs than there are"
    INDIVISIBLE = "do not divide the IPUs of a replica"
    SRAM = "do not fit in SRAM"
    STREAMING_MEMORY = "do not fit in streaming memory"
    GLOBAL_BATCH = "miss the global batch"
    PUBLISHED_GLOBAL_BATCH = "miss the published global batch"
