/* Stockade: AES at the speed of the machine. The C interface.
 *
 * Rules that hold for every function here:
 *  - Handles are opaque; buffers belong to the caller; nothing is kept of a buffer after the call returns.
 *  - Lengths are 64-bit and in bytes. A pointer may be null only where its length is zero.
 *  - Output may be exactly the input (in place). Any other overlap is refused with STOCKADE_ERROR_OVERLAP.
 *  - Nothing is printed or thrown. Every outcome is a stockade_status; out-parameters are written only as stated.
 *  - Functions may be called from many threads at once. A key or an engine may be shared by threads; a stream may not.
 *  - A null engine means the process default: the environment (STOCKADE_FORCE, STOCKADE_THREADS, OMP_NUM_THREADS),
 *    else every core the process may run on, with small inputs kept on the calling thread.
 */
#ifndef STOCKADE_STOCKADE_H
#define STOCKADE_STOCKADE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define STOCKADE_API __attribute__((visibility("default")))
#else
#define STOCKADE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define STOCKADE_VERSION_MAJOR 0
#define STOCKADE_VERSION_MINOR 1
#define STOCKADE_VERSION_PATCH 0

/* ---- status ---------------------------------------------------------------------------------------------------- */

/* Every outcome of every function. Values never change meaning; new ones are appended. */
typedef enum stockade_status {
  STOCKADE_OK = 0,
  STOCKADE_ERROR_NULL_POINTER = 1,   /* a null handle, or a null buffer with a non-zero length */
  STOCKADE_ERROR_ARGUMENT = 2,       /* an enum value, thread count or structure size out of range */
  STOCKADE_ERROR_KEY_LENGTH = 3,     /* not 16, 24 or 32 bytes (XTS: 32 or 64) */
  STOCKADE_ERROR_WEAK_KEY = 4,       /* XTS: both halves of the key are equal (IEEE 1619, FIPS 140-3 IG C.I) */
  STOCKADE_ERROR_IV_LENGTH = 5,      /* not 16 bytes (GCM: at least 1; ECB: exactly 0) */
  STOCKADE_ERROR_TAG_LENGTH = 6,     /* GCM: not 12 to 16 bytes (SP 800-38D 5.2.1.2) */
  STOCKADE_ERROR_DATA_LENGTH = 7,    /* not a multiple of 16 where no padding is asked for; XTS: less than 16 */
  STOCKADE_ERROR_DATA_TOO_LONG = 8,  /* GCM: over 2^36 - 32 bytes; XTS: a data unit over 2^24 bytes (2^20 blocks) */
  STOCKADE_ERROR_OVERLAP = 9,        /* input and output overlap without being the same buffer */
  STOCKADE_ERROR_PADDING = 10,       /* decrypted padding is not PKCS#7: wrong key, wrong IV or damaged data */
  STOCKADE_ERROR_AUTHENTICATION = 11,/* GCM: the tag does not match; no plaintext was released */
  STOCKADE_ERROR_MODE = 12,          /* the operation does not exist for the mode of this key */
  STOCKADE_ERROR_STATE = 13,         /* a stream call out of order, such as update after final */
  STOCKADE_ERROR_OUTPUT_SIZE = 14,   /* the output buffer is too small; nothing was written */
  STOCKADE_ERROR_UNKNOWN_NAME = 15,  /* no row, engine, primitive or feature of that name */
  STOCKADE_ERROR_UNAVAILABLE = 16,   /* the named row or engine exists but this machine cannot run it */
  STOCKADE_ERROR_IO = 17,            /* a read, write or seek failed; errno holds the reason */
  STOCKADE_ERROR_INPUT_CHANGED = 18, /* the input file shrank or grew while it was read */
  STOCKADE_ERROR_CANCELLED = 19,     /* the progress callback asked to stop */
  STOCKADE_ERROR_MEMORY = 20         /* an allocation failed */
} stockade_status;

/* One English sentence for a status, lower case, no full stop; "unknown status" for a value not listed. Never null. */
STOCKADE_API const char *stockade_status_text(stockade_status status);

/* The enumerator's name, such as "STOCKADE_ERROR_OVERLAP"; "unknown" for a value not listed. Never null. */
STOCKADE_API const char *stockade_status_name(stockade_status status);

/* "major.minor.patch" of the library that is running. */
STOCKADE_API const char *stockade_version(void);

/* ---- keys ------------------------------------------------------------------------------------------------------ */

typedef enum stockade_mode {
  STOCKADE_ECB = 0, /* SP 800-38A 6.1 */
  STOCKADE_CBC = 1, /* SP 800-38A 6.2 */
  STOCKADE_CFB = 2, /* SP 800-38A 6.3, 128-bit segments; a last partial segment is allowed */
  STOCKADE_OFB = 3, /* SP 800-38A 6.4 */
  STOCKADE_CTR = 4, /* SP 800-38A 6.5, the whole 128-bit block is a big-endian counter that wraps */
  STOCKADE_XTS = 5, /* IEEE 1619, with ciphertext stealing */
  STOCKADE_GCM = 6  /* SP 800-38D */
} stockade_mode;

/* A key schedule for one mode, bound to the implementation row that was chosen when it was made. Wiped when freed. */
typedef struct stockade_key stockade_key;

/* Makes a key. `bytes` holds `length` bytes: 16, 24 or 32; for XTS 32 or 64 (data key, then tweak key).
 * `force` is null, or a list such as "aes:vaes256,gcm:portable" that names rows; it stands above STOCKADE_FORCE.
 * Errors: NULL_POINTER, ARGUMENT (mode), KEY_LENGTH, WEAK_KEY, UNKNOWN_NAME, UNAVAILABLE, MEMORY. */
STOCKADE_API stockade_status stockade_key_create(stockade_key **key, stockade_mode mode, const void *bytes,
                                                 uint64_t length, const char *force);

/* Wipes and frees; null is allowed. */
STOCKADE_API void stockade_key_free(stockade_key *key);

STOCKADE_API stockade_mode stockade_key_mode(const stockade_key *key);
/* 128, 192 or 256. */
STOCKADE_API uint32_t stockade_key_bits(const stockade_key *key);
/* The row that runs this key, such as "vaes512". */
STOCKADE_API const char *stockade_key_row(const stockade_key *key);

/* ---- engines --------------------------------------------------------------------------------------------------- */

/* Who runs the work: one thread, or many. Holds no secrets. */
typedef struct stockade_engine stockade_engine;

/* `name`: "auto", "serial" or "threads"; null means "auto" or what STOCKADE_FORCE=engine:NAME says.
 * `threads`: at most this many; 0 means STOCKADE_THREADS, then OMP_NUM_THREADS, then every core of the process.
 * "threads" splits whatever can be split; "auto" keeps an input on the calling thread where splitting would not pay.
 * Errors: NULL_POINTER, UNKNOWN_NAME, UNAVAILABLE, ARGUMENT (threads above 4096), MEMORY. */
STOCKADE_API stockade_status stockade_engine_create(stockade_engine **engine, const char *name, uint32_t threads);
STOCKADE_API void stockade_engine_free(stockade_engine *engine);

typedef enum stockade_direction { STOCKADE_ENCRYPT = 0, STOCKADE_DECRYPT = 1 } stockade_direction;

/* Writes to `text` (at most `size` bytes with the terminating zero) how one message of `length` bytes would be run and
 * why, such as "threads x2, row vaes512, ordinary stores: 1048576 bytes are above the split size of 131072".
 * Errors: NULL_POINTER, ARGUMENT, and those of stockade_engine_create for a bad environment. */
STOCKADE_API stockade_status stockade_explain(const stockade_key *key, stockade_direction direction, uint64_t length,
                                              const stockade_engine *engine, char *text, size_t size);

/* ---- one message ----------------------------------------------------------------------------------------------- */

/* ECB, CBC, CFB, OFB, CTR, XTS without padding: `length` bytes from `in` to `out`. ECB takes no IV (null, 0), the others
 * 16 bytes. XTS: one data unit, `iv` is its tweak. ECB and CBC need a multiple of 16 bytes, XTS at least 16.
 * Errors: NULL_POINTER, MODE (a GCM key), IV_LENGTH, DATA_LENGTH, DATA_TOO_LONG, OVERLAP. Nothing is written on error. */
STOCKADE_API stockade_status stockade_encrypt(const stockade_key *key, const void *iv, uint64_t iv_length,
                                              const void *in, uint64_t length, void *out,
                                              const stockade_engine *engine);
STOCKADE_API stockade_status stockade_decrypt(const stockade_key *key, const void *iv, uint64_t iv_length,
                                              const void *in, uint64_t length, void *out,
                                              const stockade_engine *engine);

/* ECB and CBC with PKCS#7 padding (RFC 5652 6.3). Encryption writes length/16*16 + 16 bytes. Decryption takes a non-zero
 * multiple of 16 and writes what remains without the padding; it may use up to `length` bytes of `out`. On
 * STOCKADE_ERROR_PADDING the output is wiped. `*out_length` is written on success.
 * Errors: as stockade_encrypt, and OUTPUT_SIZE, PADDING. */
STOCKADE_API stockade_status stockade_encrypt_padded(const stockade_key *key, const void *iv, uint64_t iv_length,
                                                     const void *in, uint64_t length, void *out, uint64_t out_size,
                                                     uint64_t *out_length, const stockade_engine *engine);
STOCKADE_API stockade_status stockade_decrypt_padded(const stockade_key *key, const void *iv, uint64_t iv_length,
                                                     const void *in, uint64_t length, void *out, uint64_t out_size,
                                                     uint64_t *out_length, const stockade_engine *engine);

/* XTS over consecutive data units of `unit` bytes (16 to 2^24), as on a disk: the tweak of the first unit is `iv` read as
 * a 128-bit little-endian number, each further unit adds one. A shorter last unit of at least 16 bytes is allowed.
 * Errors: as stockade_encrypt, and ARGUMENT (unit). */
STOCKADE_API stockade_status stockade_encrypt_units(const stockade_key *key, const void *iv, uint64_t iv_length,
                                                    uint64_t unit, const void *in, uint64_t length, void *out,
                                                    const stockade_engine *engine);
STOCKADE_API stockade_status stockade_decrypt_units(const stockade_key *key, const void *iv, uint64_t iv_length,
                                                    uint64_t unit, const void *in, uint64_t length, void *out,
                                                    const stockade_engine *engine);

/* GCM. `iv` of any length from 1 byte (12 is the fast and usual case; never use one twice with a key), `aad` is
 * authenticated only, `tag` of 12 to 16 bytes. stockade_open writes plaintext only if the tag is right: on
 * STOCKADE_ERROR_AUTHENTICATION all `length` bytes of `out` are zero (also in place).
 * Errors: NULL_POINTER, MODE, IV_LENGTH, TAG_LENGTH, DATA_TOO_LONG, OVERLAP, AUTHENTICATION. */
STOCKADE_API stockade_status stockade_seal(const stockade_key *key, const void *iv, uint64_t iv_length,
                                           const void *aad, uint64_t aad_length, const void *in, uint64_t length,
                                           void *out, void *tag, uint64_t tag_length, const stockade_engine *engine);
STOCKADE_API stockade_status stockade_open(const stockade_key *key, const void *iv, uint64_t iv_length,
                                           const void *aad, uint64_t aad_length, const void *in, uint64_t length,
                                           void *out, const void *tag, uint64_t tag_length,
                                           const stockade_engine *engine);

/* ---- many messages --------------------------------------------------------------------------------------------- */

/* One of N independent messages. Unused members are null and 0. `tag` is written when sealing and read when opening. */
typedef struct stockade_message {
  const stockade_key *key; /* own or shared; messages of one call may have different modes and key sizes */
  const void *iv;
  uint64_t iv_length;
  const void *aad; /* GCM only */
  uint64_t aad_length;
  const void *in;
  uint64_t length;
  void *out; /* must not overlap any other message's buffers */
  void *tag; /* GCM only */
  uint64_t tag_length;
  stockade_status status; /* written: the outcome of this message, as of the one-message call */
} stockade_message;

/* Runs all messages, whatever becomes of some of them. CBC and CFB encryption and OFB, which cannot be split, run many
 * messages side by side on each core. Returns OK if every message is OK, else the status of the first that is not;
 * NULL_POINTER if `messages` is null with a non-zero count. */
STOCKADE_API stockade_status stockade_encrypt_many(stockade_message *messages, uint64_t count,
                                                   const stockade_engine *engine);
STOCKADE_API stockade_status stockade_decrypt_many(stockade_message *messages, uint64_t count,
                                                   const stockade_engine *engine);

/* ---- a message in pieces --------------------------------------------------------------------------------------- */

typedef enum stockade_padding { STOCKADE_PADDING_NONE = 0, STOCKADE_PADDING_PKCS7 = 1 } stockade_padding;

/* One message that arrives in pieces of any size. Wiped when freed. The key and engine must outlive it. */
typedef struct stockade_stream stockade_stream;

/* Starts a message. Padding applies to ECB and CBC only. An XTS stream is one data unit.
 * Errors: NULL_POINTER, ARGUMENT, IV_LENGTH, MODE (padding asked of a mode that has none), MEMORY. */
STOCKADE_API stockade_status stockade_stream_create(stockade_stream **stream, const stockade_key *key,
                                                    stockade_direction direction, const void *iv, uint64_t iv_length,
                                                    stockade_padding padding, const stockade_engine *engine);
STOCKADE_API void stockade_stream_free(stockade_stream *stream);

/* GCM: adds to the associated data; any number of calls before the first update.
 * Errors: NULL_POINTER, MODE, STATE, DATA_TOO_LONG. */
STOCKADE_API stockade_status stockade_stream_aad(stockade_stream *stream, const void *aad, uint64_t length);

/* The most bytes that the next update with `length` bytes, or with 0 the final call, may write. 0 for a null stream. */
STOCKADE_API uint64_t stockade_stream_bound(const stockade_stream *stream, uint64_t length);

/* Takes `length` bytes and writes what they determine; `*out_length` says how many (written on success). Modes with whole
 * blocks hold back up to 31 bytes. `in` and `out` may be the same buffer only while nothing is held back.
 * Decrypting GCM writes nothing here: the ciphertext is kept until the tag is verified, so memory grows with the message
 * (for large data use stockade_decrypt_fd).
 * Errors: NULL_POINTER, STATE, OUTPUT_SIZE (nothing was taken), OVERLAP, DATA_TOO_LONG, MEMORY. */
STOCKADE_API stockade_status stockade_stream_update(stockade_stream *stream, const void *in, uint64_t length, void *out,
                                                    uint64_t out_size, uint64_t *out_length);

/* Ends the message: writes what was held back, adds or strips padding, and for GCM makes the tag (encrypt: written to
 * `tag`) or verifies it (decrypt: read from `tag`; plaintext is written only if it matches). Other modes take no tag
 * (null, 0). After any outcome but OUTPUT_SIZE the stream only accepts stockade_stream_free.
 * Errors: NULL_POINTER, STATE, OUTPUT_SIZE, TAG_LENGTH, DATA_LENGTH, PADDING, AUTHENTICATION. */
STOCKADE_API stockade_status stockade_stream_final(stockade_stream *stream, void *out, uint64_t out_size,
                                                   uint64_t *out_length, void *tag, uint64_t tag_length);

/* ---- files ----------------------------------------------------------------------------------------------------- */

/* Called now and then with the bytes done and the total (0 when unknown), from one thread at a time. Non-zero stops. */
typedef int (*stockade_progress)(void *context, uint64_t done, uint64_t total);

typedef struct stockade_file_options {
  uint64_t struct_size; /* sizeof(stockade_file_options) */
  const void *iv;
  uint64_t iv_length;
  const void *aad; /* GCM only */
  uint64_t aad_length;
  stockade_padding padding; /* ECB and CBC only */
  uint64_t unit;            /* XTS: bytes per data unit; 0 means that the whole file is one (at most 2^24 bytes) */
  stockade_progress progress; /* may be null */
  void *progress_context;
  uint64_t in_length; /* written: bytes read */
  uint64_t out_length; /* written: bytes written */
} stockade_file_options;

/* Encrypts or decrypts from one descriptor to another, from their current positions to the end of the input. Where both
 * are regular files (output readable or not) the workers read and write their own ranges by offset; else a reader, the
 * workers and an in-order writer overlap. Memory is bounded whatever the length. GCM ciphertext is followed by its 16-byte
 * tag. Decrypting GCM needs a regular output file: the plaintext is unauthenticated until the call returns OK, so write to
 * a temporary and rename it; on any error the output is truncated to where it began.
 * Errors: those of the one-message calls, and IO, INPUT_CHANGED, CANCELLED, MEMORY, MODE (GCM decryption to a pipe). */
STOCKADE_API stockade_status stockade_encrypt_fd(const stockade_key *key, int in_fd, int out_fd,
                                                 stockade_file_options *options, const stockade_engine *engine);
STOCKADE_API stockade_status stockade_decrypt_fd(const stockade_key *key, int in_fd, int out_fd,
                                                 stockade_file_options *options, const stockade_engine *engine);

/* ---- what this machine would do -------------------------------------------------------------------------------- */

typedef struct stockade_machine {
  char cpu[64];          /* the processor's own name */
  uint32_t cores;        /* cores that this process may run on */
  uint32_t threads;      /* threads that the default engine would use */
  uint64_t l1d, l2, l3;  /* bytes of data cache seen by one core; 0 when unknown */
} stockade_machine;
STOCKADE_API stockade_status stockade_machine_get(stockade_machine *machine);

typedef struct stockade_feature {
  const char *name; /* such as "vaes" */
  int present;      /* the processor has it and the operating system saves its registers */
  int masked;       /* hidden by STOCKADE_MASK */
} stockade_feature;
/* The instruction sets that rows ask for, by index from 0; ARGUMENT past the last. */
STOCKADE_API stockade_status stockade_feature_get(uint32_t index, stockade_feature *feature);

typedef struct stockade_row {
  const char *primitive; /* "aes" or "gcm" */
  const char *name;      /* such as "vaes512" */
  int available;         /* this machine can run it */
  int chosen;            /* a new key would use it */
  char reason[160];      /* why, such as "needs avx512, which this processor lacks" */
} stockade_row;
/* Every implementation row, by index from 0, best first within a primitive; ARGUMENT past the last.
 * A bad STOCKADE_FORCE is reported as by stockade_key_create. */
STOCKADE_API stockade_status stockade_row_get(uint32_t index, stockade_row *row);

/* The engines by index from 0: name and what it does; ARGUMENT past the last. */
STOCKADE_API stockade_status stockade_engine_get(uint32_t index, const char **name, const char **summary);

/* How the library was built: compiler, build type, OpenMP, sanitizers, as "key=value" words. */
STOCKADE_API const char *stockade_build(void);

#ifdef __cplusplus
}
#endif
#endif
