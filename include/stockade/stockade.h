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
 *  - Other threads that help are started when they are first needed and serve every caller; they are called "stockade",
 *    take no signals, and sleep within a millisecond when there is nothing to do. They stay as long as the process, which
 *    they keep from ending where its own threads all end by pthread_exit(). A call waits for none that has not begun.
 *    Where none can be started, and in a process that was forked after they were, the calling thread works alone.
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
#define STOCKADE_VERSION_MINOR 4
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
  STOCKADE_ERROR_DATA_TOO_LONG = 8,  /* GCM: over 2^36 - 32 bytes; XTS: a data unit over 2^24 bytes (2^20 blocks); over 2^47 */
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
  STOCKADE_ERROR_CANCELLED = 19,     /* a callback asked to stop, or threw an exception */
  STOCKADE_ERROR_MEMORY = 20,        /* an allocation failed */
  /* What is wrong with a Stockade file; stockade_fault says where. */
  STOCKADE_ERROR_MAGIC = 21,         /* not a Stockade file at all */
  STOCKADE_ERROR_VERSION = 22,       /* a Stockade file of a version that this library does not know */
  STOCKADE_ERROR_CIPHER = 23,        /* the header names a cipher that this library does not know */
  STOCKADE_ERROR_HEADER_TOO_LONG = 24, /* over 1 MiB of header or 1,024 stanzas */
  STOCKADE_ERROR_HEADER = 25,        /* a line of the header is malformed */
  STOCKADE_ERROR_SCRYPT_NOT_ALONE = 26, /* a passphrase beside another recipient, in a header or in a keyring */
  STOCKADE_ERROR_WORK_FACTOR = 27,   /* scrypt's work factor is over the cap */
  STOCKADE_ERROR_NO_IDENTITY = 28,   /* no key of the keyring opens this file; or the keyring is empty */
  STOCKADE_ERROR_PASSPHRASE = 29,    /* the passphrase does not open this file */
  STOCKADE_ERROR_HEADER_MAC = 30,    /* the header was changed after it was made */
  STOCKADE_ERROR_COMMITMENT = 31,    /* the payload does not begin as this key would have it: wrong key or damaged */
  STOCKADE_ERROR_TRUNCATED = 32,     /* the file ends too early */
  STOCKADE_ERROR_CHUNK = 33,         /* a chunk is damaged, missing or out of its place */
  STOCKADE_ERROR_TRAILING_DATA = 34, /* data after the last chunk, or behind the armor */
  STOCKADE_ERROR_TOO_MANY_CHUNKS = 35, /* a payload of over 2^38 chunks (2^52 bytes) */
  STOCKADE_ERROR_ARMOR = 36,         /* not the strict PEM that an armored file is */
  STOCKADE_ERROR_RANDOM = 37,        /* the operating system gives no random bytes */
  STOCKADE_ERROR_JOURNAL = 38,       /* the journal is damaged, or not of this job */
  STOCKADE_ERROR_LIBRARY = 39,       /* libcrypto refused HMAC, HKDF or scrypt, as under a restricting configuration */
  STOCKADE_ERROR_DEVICE = 40,        /* the GPU or its driver reported an error */
  STOCKADE_ERROR_DEVICE_MEMORY = 41, /* the GPU has not enough free memory */
  STOCKADE_ERROR_DEVICE_POINTER = 42,/* a pointer to host memory where memory of the device is wanted */
  STOCKADE_ERROR_FORKED = 43,        /* the child of a fork cannot use what its parent had: a GPU, a stockade_file, a queue */
  /* RSA: keys, then operations. */
  STOCKADE_ERROR_RSA_SIZE = 44,      /* an RSA modulus of fewer bits than are allowed, or of over 16,384 */
  STOCKADE_ERROR_RSA_MODULUS = 45,   /* an RSA modulus that is even */
  STOCKADE_ERROR_RSA_EXPONENT = 46,  /* an RSA public exponent that is even, 1 or over 256 bits */
  STOCKADE_ERROR_RSA_FACTORS = 47,   /* p * q is not the modulus, or p and q are equal or too close */
  STOCKADE_ERROR_RSA_PRIME = 48,     /* p or q is not prime */
  STOCKADE_ERROR_RSA_PRIVATE_EXPONENT = 49, /* d does not fit e, p and q, or is short */
  STOCKADE_ERROR_RSA_CRT = 50,       /* dp, dq or qinv does not fit d, p and q */
  STOCKADE_ERROR_KEY_FILE = 51,      /* not a key in a form that is known here, or malformed */
  STOCKADE_ERROR_KEY_TYPE = 52,      /* a key, but not of RSA, or of a kind of RSA that is not known here */
  STOCKADE_ERROR_PASSPHRASE_NEEDED = 53, /* the key is encrypted, and there is no passphrase */
  STOCKADE_ERROR_KEY_NOT_PRIVATE = 54, /* a public key where a private one is wanted */
  STOCKADE_ERROR_MESSAGE_LENGTH = 55, /* a message, or digest and salt, too long for the padding and the RSA key */
  STOCKADE_ERROR_RSA_LENGTH = 56,    /* a ciphertext or signature of another length than the RSA modulus */
  STOCKADE_ERROR_RSA_RANGE = 57,     /* a number that is not below the RSA modulus */
  STOCKADE_ERROR_DECRYPTION = 58,    /* not a ciphertext for this key, hash and label; nothing more is said of why */
  STOCKADE_ERROR_SIGNATURE = 59,     /* the signature is not one of this message by this key */
  STOCKADE_ERROR_RSA_FAULT = 60,     /* a private operation went wrong in the machine; its result was not released */
  /* One job, many processes. */
  STOCKADE_ERROR_MISMATCH = 61,      /* the processes are not of one build of the library, or were told different things */
  STOCKADE_ERROR_MPI = 62,           /* the MPI library reported an error */
  STOCKADE_ERROR_INCOMPLETE = 63     /* slices of a shared job are still to be done */
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

/* `name`: "auto", "serial", "threads", "cuda" or "hybrid"; null means "auto" or what STOCKADE_FORCE=engine:NAME says.
 * `threads`: at most this many; 0 means STOCKADE_THREADS, then OMP_NUM_THREADS, then every core of the process.
 * "threads" splits whatever can be split; "auto" keeps an input on the calling thread where splitting would not pay, and on
 * the CPU, whose cores are faster than the bus to a GPU. "cuda" runs everything on GPUs, those of STOCKADE_DEVICES (such as
 * "0,2") or all; calls then may also fail with UNAVAILABLE, DEVICE, DEVICE_MEMORY, MEMORY and FORKED, and with MODE for CBC and
 * CFB encryption and OFB, which cannot be split. "hybrid" uses the CPU beside them, and alone for what a GPU cannot do or
 * fails at. Errors: NULL_POINTER, UNKNOWN_NAME, UNAVAILABLE ("cuda", "hybrid": no usable GPU), ARGUMENT (threads above
 * 4096), MEMORY, FORKED. */
STOCKADE_API stockade_status stockade_engine_create(stockade_engine **engine, const char *name, uint32_t threads);
STOCKADE_API void stockade_engine_free(stockade_engine *engine);

/* "auto", "serial", "threads", "cuda" or "hybrid"; for null that of the process default. Never null. */
STOCKADE_API const char *stockade_engine_name(const stockade_engine *engine);

/* Which GPUs a "cuda" or "hybrid" engine uses: `count` numbers below 64, at most 64 of them, or with a count of 0 all that
 * can be used. Takes the place of STOCKADE_DEVICES. Not while another thread uses the engine. On an error it stays as it was.
 * Errors: NULL_POINTER, ARGUMENT (a number; another engine), UNAVAILABLE (a GPU that is not there or cannot be used),
 * FORKED, DEVICE. */
STOCKADE_API stockade_status stockade_engine_set_devices(stockade_engine *engine, const uint32_t *devices,
                                                         uint32_t count);

/* Experience data: what is best on this machine, by measurement. `stockade tune` writes the user's profile; others are built in.
 * STOCKADE_PROFILE names another file, or is "none". Texts belong to the library and live as long as the process. */
typedef struct stockade_experience {
  const char *path;        /* where the user's profile is, or would be; empty: nowhere */
  const char *fingerprint; /* of this machine */
  const char *user;        /* name of the user's profile; null: none is in use */
  const char *problem;     /* why the one at `path` is not used, such as "its end is missing"; null: there is nothing wrong */
  uint32_t problem_line;   /* in it; 0: not of one line */
  const char *built_in;    /* name of the built-in profile for this class of machine; null: there is none */
} stockade_experience;

/* Errors: NULL_POINTER. */
STOCKADE_API stockade_status stockade_experience_get(stockade_experience *experience);

typedef enum stockade_direction { STOCKADE_ENCRYPT = 0, STOCKADE_DECRYPT = 1 } stockade_direction;

/* Writes to `text` (at most `size` bytes with the terminating zero) how one message of `length` bytes would be run and
 * why, such as "threads x2, row vaes512, ordinary stores: 1048576 bytes are above the split size of 32768", or "... are known
 * to be quickest so (amd-zen5.profile, line 12)".
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
 * NULL_POINTER if `messages` is null with a non-zero count, and ARGUMENT, before any is touched, for more than can lie
 * anywhere (128 TiB). */
STOCKADE_API stockade_status stockade_encrypt_many(stockade_message *messages, uint64_t count,
                                                   const stockade_engine *engine);
STOCKADE_API stockade_status stockade_decrypt_many(stockade_message *messages, uint64_t count,
                                                   const stockade_engine *engine);

/* ---- a message in pieces --------------------------------------------------------------------------------------- */

typedef enum stockade_padding { STOCKADE_PADDING_NONE = 0, STOCKADE_PADDING_PKCS7 = 1 } stockade_padding;

/* One message that arrives in pieces of any size. Wiped when freed. The key and engine must outlive it. A process that is
 * forked while it has one cannot continue it in the child (FORKED), which would encrypt other plaintext under the same IV. */
typedef struct stockade_stream stockade_stream;

/* Starts a message. Padding applies to ECB and CBC only. An XTS stream is one data unit.
 * Errors: NULL_POINTER, ARGUMENT, IV_LENGTH, MODE (padding asked of a mode that has none), MEMORY. */
STOCKADE_API stockade_status stockade_stream_create(stockade_stream **stream, const stockade_key *key,
                                                    stockade_direction direction, const void *iv, uint64_t iv_length,
                                                    stockade_padding padding, const stockade_engine *engine);
STOCKADE_API void stockade_stream_free(stockade_stream *stream);

/* GCM: adds to the associated data; any number of calls before the first update.
 * Errors: NULL_POINTER, MODE, STATE, DATA_TOO_LONG, FORKED. */
STOCKADE_API stockade_status stockade_stream_aad(stockade_stream *stream, const void *aad, uint64_t length);

/* The most bytes that the next update with `length` bytes, or with 0 the final call, may write. 0 for a null stream. */
STOCKADE_API uint64_t stockade_stream_bound(const stockade_stream *stream, uint64_t length);

/* Takes `length` bytes and writes what they determine; `*out_length` says how many (written on success). Modes with whole
 * blocks hold back up to 31 bytes. `in` and `out` may be the same buffer only while nothing is held back.
 * Decrypting GCM writes nothing here: the ciphertext is kept until the tag is verified, so memory grows with the message
 * (for large data use stockade_raw_decrypt_fd).
 * Errors: NULL_POINTER, STATE, OUTPUT_SIZE (nothing was taken), OVERLAP, DATA_TOO_LONG, MEMORY, FORKED. */
STOCKADE_API stockade_status stockade_stream_update(stockade_stream *stream, const void *in, uint64_t length, void *out,
                                                    uint64_t out_size, uint64_t *out_length);

/* Ends the message: writes what was held back, adds or strips padding, and for GCM makes the tag (encrypt: written to
 * `tag`) or verifies it (decrypt: read from `tag`; plaintext is written only if it matches). Other modes take no tag
 * (null, 0). After any outcome but OUTPUT_SIZE the stream only accepts stockade_stream_free.
 * Errors: NULL_POINTER, STATE, OUTPUT_SIZE, TAG_LENGTH, DATA_LENGTH, PADDING, AUTHENTICATION, FORKED. */
STOCKADE_API stockade_status stockade_stream_final(stockade_stream *stream, void *out, uint64_t out_size,
                                                   uint64_t *out_length, void *tag, uint64_t tag_length);

/* ---- raw files ------------------------------------------------------------------------------------------------- */

/* Called now and then with the bytes done and the total (0 when unknown), from one thread at a time. Non-zero stops. If it
 * forks and returns in the child too, the call returns FORKED there and leaves the files to the parent. */
typedef int (*stockade_progress)(void *context, uint64_t done, uint64_t total);

typedef struct stockade_raw_options {
  uint64_t struct_size; /* sizeof(stockade_raw_options) */
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
} stockade_raw_options;

/* Encrypts or decrypts from one descriptor to another, from their current positions to the end of the input. Where both
 * are regular files (output readable or not) the workers read and write their own ranges by offset; else a reader, the
 * workers and an in-order writer overlap. Memory is bounded whatever the length. GCM ciphertext is followed by its 16-byte
 * tag. Decrypting GCM needs a regular output file: the plaintext is unauthenticated until the call returns OK, so write to
 * a temporary and rename it; on any error the output is truncated to where it began.
 * Errors: those of the one-message calls, and IO, INPUT_CHANGED, CANCELLED, FORKED, MEMORY, MODE (GCM decryption to a pipe; with
 * "cuda" CBC and CFB encryption and OFB, before anything is written). */
STOCKADE_API stockade_status stockade_raw_encrypt_fd(const stockade_key *key, int in_fd, int out_fd,
                                                 stockade_raw_options *options, const stockade_engine *engine);
STOCKADE_API stockade_status stockade_raw_decrypt_fd(const stockade_key *key, int in_fd, int out_fd,
                                                 stockade_raw_options *options, const stockade_engine *engine);

/* ---- the Stockade file ----------------------------------------------------------------------------------------- */

/* docs/format.md describes it to the byte: a text header that wraps a random file key for every recipient, then the
 * payload, C2SP chunked encryption (c2sp.org/chunked-encryption) of 16,384 bytes of plaintext per chunk. */

#define STOCKADE_CHUNK_BYTES 16384        /* of plaintext; the last chunk is always shorter and may be empty */
#define STOCKADE_SEALED_CHUNK_BYTES 16400 /* the same with its tag */
#define STOCKADE_PREAMBLE_BYTES 56        /* salt and commitment, which the payload begins with */

typedef enum stockade_cipher {
  STOCKADE_COBBLESTONE_256 = 0, /* AES-256-GCM */
  STOCKADE_COBBLESTONE_128 = 1  /* AES-128-GCM */
} stockade_cipher;

/* Keys and a passphrase: who shall be able to open a file that is made, or by whom one is to be opened. May be shared by
 * threads once it is complete. Wiped when freed. */
typedef struct stockade_keyring stockade_keyring;

/* Errors: NULL_POINTER, MEMORY. */
STOCKADE_API stockade_status stockade_keyring_create(stockade_keyring **keyring);
STOCKADE_API void stockade_keyring_free(stockade_keyring *keyring);

/* A symmetric key of 32 random bytes. Errors: NULL_POINTER, KEY_LENGTH, MEMORY. */
STOCKADE_API stockade_status stockade_keyring_add_key(stockade_keyring *keyring, const void *key, uint64_t length);

/* A passphrase, stretched by scrypt (RFC 7914; r = 8, p = 1). `work_factor` is log2 N for files that are made: 1 to 30, 0
 * for 17, which takes 128 MiB and some tenths of a second for each file. A file with a passphrase has no other recipient;
 * a keyring to open files with may hold keys too. Replaces an earlier passphrase.
 * Errors: NULL_POINTER, ARGUMENT (work_factor; an empty passphrase), MEMORY. */
STOCKADE_API stockade_status stockade_keyring_add_passphrase(stockade_keyring *keyring, const void *passphrase,
                                                             uint64_t length, uint32_t work_factor);

/* An RSA key of 2,048 to 16,384 bits, read from all `length` bytes of a file as by stockade_rsa_key_read_public and
 * stockade_rsa_key_read_private, which say what forms there are and what `reading` is (may be null). For a public key files
 * can be made; a private one opens them too. `id` (may be null) is written: the name by which headers call the key, 22
 * characters and a zero; also with the status ARGUMENT that says that the ring holds the key already.
 * Errors: those of these two functions, and ARGUMENT (also: a reading that is `legacy`). */
struct stockade_rsa_reading;
STOCKADE_API stockade_status stockade_keyring_add_rsa_public(stockade_keyring *keyring, const void *file,
                                                             uint64_t length, struct stockade_rsa_reading *reading,
                                                             char id[23]);
STOCKADE_API stockade_status stockade_keyring_add_rsa_private(stockade_keyring *keyring, const void *file,
                                                              uint64_t length, struct stockade_rsa_reading *reading,
                                                              char id[23]);

/* `length` bytes from the operating system's random number generator. Errors: NULL_POINTER, RANDOM. */
STOCKADE_API stockade_status stockade_random(void *out, uint64_t length);

/* The name by which a header calls a symmetric key of 32 bytes: 11 characters and a zero.
 * Errors: NULL_POINTER, KEY_LENGTH, LIBRARY. */
STOCKADE_API stockade_status stockade_key_id(const void *key, uint64_t length, char id[12]);

/* What a file consists of: a Stockade file if `keyring` is given, else plain Cobblestone, which is the payload alone under
 * `key` (32 bytes, or 16 for COBBLESTONE_128) and `context`. Start from {sizeof(stockade_format)} and zeros.
 * A Stockade file that is opened says itself what cipher and armor it has. */
typedef struct stockade_format {
  uint64_t struct_size;            /* sizeof(stockade_format) */
  const stockade_keyring *keyring; /* not owned */
  const void *key;                 /* plain Cobblestone: the input key; random, never a password */
  uint64_t key_length;
  const void *context; /* plain Cobblestone: what the payload is bound to; any length, no secret */
  uint64_t context_length;
  stockade_cipher cipher;
  int armor;                /* a Stockade file that is made: as PEM with the label STOCKADE FILE */
  uint32_t max_work_factor; /* opening with a passphrase: the largest log2 N accepted; 0 for 20 */
} stockade_format;

/* Where something is wrong. */
typedef struct stockade_fault {
  stockade_status status;
  uint64_t chunk;  /* the first bad chunk, or UINT64_MAX where it is none */
  uint64_t offset; /* where in the file, before armor, it begins; UINT64_MAX where this means nothing */
  uint64_t line;   /* of the header or the armor, from 1; 0 where it is none */
  uint64_t value;  /* WORK_FACTOR: the one asked for; CHUNK: 1 for the last chunk, which may have been cut short, else 0 */
} stockade_fault;

/* Writes one English sentence for a fault to `text` (at most `size` bytes with the terminating zero), lower case, no full
 * stop, such as "chunk 12 at offset 197880 is damaged". Errors: NULL_POINTER, ARGUMENT (size 0). */
STOCKADE_API stockade_status stockade_fault_text(const stockade_fault *fault, char *text, size_t size);

/* Whether `length` bytes (as many as there are, up to 64) begin like a Stockade file, armored or not: 1 or 0. */
STOCKADE_API int stockade_file_detect(const void *bytes, uint64_t length);

/* ---- a Stockade file in pieces ---------------------------------------------------------------------------------- */

/* A file that is made or opened front to back, from pieces that are handed in (push) or fetched (pull). Wiped when freed.
 * With "cuda" every chunk goes to a GPU once it is complete, whatever the size of the pieces: small ones are slow there.
 * What `format` points to must stay until it is freed, and the engine too. A process that is forked while it has one cannot
 * go on with it in the child (FORKED), which would seal different plaintext under one nonce. */
typedef struct stockade_file stockade_file;

/* Errors: NULL_POINTER, ARGUMENT, KEY_LENGTH (plain Cobblestone), NO_IDENTITY (an empty keyring), SCRYPT_NOT_ALONE (to
 * make a file), HEADER_TOO_LONG (over 1,024 keys), MODE (armor for plain Cobblestone), RANDOM, LIBRARY, MEMORY. */
STOCKADE_API stockade_status stockade_file_create(stockade_file **file, stockade_direction direction,
                                                  const stockade_format *format, const stockade_engine *engine);
STOCKADE_API void stockade_file_free(stockade_file *file);

/* The most bytes that the next update with `length` bytes, or with 0 the final call, may write. 0 for a null file. */
STOCKADE_API uint64_t stockade_file_bound(const stockade_file *file, uint64_t length);

/* Push: takes `length` bytes and writes what they determine; `*out_length` says how many (0 on an error). When opening,
 * only what has been authenticated is written, and on an error nothing of this call. `in` and `out` must not overlap.
 * After an error the file only accepts stockade_file_fault and stockade_file_free.
 * Errors: NULL_POINTER, STATE, OUTPUT_SIZE (nothing was taken), OVERLAP, MEMORY, FORKED, and when opening 21 to 36. */
STOCKADE_API stockade_status stockade_file_update(stockade_file *file, const void *in, uint64_t length, void *out,
                                                  uint64_t out_size, uint64_t *out_length);
/* The end of the input: only after this has returned OK is the file complete, or known to be.
 * Errors: as stockade_file_update. */
STOCKADE_API stockade_status stockade_file_final(stockade_file *file, void *out, uint64_t out_size,
                                                 uint64_t *out_length);

/* Fetches at most `size` bytes of the input: how many, 0 at its end, negative on an error (errno holds the reason). Fewer
 * than asked for is no end. */
typedef int64_t (*stockade_read)(void *context, void *buffer, uint64_t size);

/* Pull: fetches as much as it takes to write `size` bytes, fewer only at the end, and then 0. Not to be mixed with push.
 * Errors: as stockade_file_update, and IO. */
STOCKADE_API stockade_status stockade_file_pull(stockade_file *file, stockade_read read, void *context, void *out,
                                                uint64_t size, uint64_t *out_length);

/* What made the last call fail. Errors: NULL_POINTER. */
STOCKADE_API stockade_status stockade_file_fault(const stockade_file *file, stockade_fault *fault);

/* ---- any part of a Stockade file -------------------------------------------------------------------------------- */

/* Reads any range of the plaintext and opens no more chunks than hold it. May be shared by threads if its callback may.
 * Not for armored files (status ARMOR). Wiped when freed. */
typedef struct stockade_reader stockade_reader;

/* Fetches `length` bytes at `offset` of the file: 0, or -1 on an error (errno holds the reason). Called by the thread that
 * asked for something of the reader. */
typedef int (*stockade_read_at)(void *context, uint64_t offset, void *buffer, uint64_t length);

/* Reads the header and authenticates the last chunk of a file of `file_length` bytes, so that its length can be trusted.
 * `fault` may be null. What `format` points to must stay until the call returns; the engine must outlive the reader.
 * Errors: as stockade_file_create, IO, and 21 to 36. */
STOCKADE_API stockade_status stockade_reader_create(stockade_reader **reader, stockade_read_at read, void *context,
                                                    uint64_t file_length, const stockade_format *format,
                                                    const stockade_engine *engine, stockade_fault *fault);
STOCKADE_API void stockade_reader_free(stockade_reader *reader);

/* Bytes of plaintext. 0 for a null reader. */
STOCKADE_API uint64_t stockade_reader_length(const stockade_reader *reader);
/* Bytes of header before the payload; 0 for plain Cobblestone or a null reader. */
STOCKADE_API uint64_t stockade_reader_header_length(const stockade_reader *reader);

/* Reads `length` bytes at `offset` of the plaintext; fewer where it ends before that. On an error nothing is left in `out`.
 * With "cuda" a GPU opens the chunks, be it one only. Errors: NULL_POINTER, IO, CHUNK, MEMORY. */
STOCKADE_API stockade_status stockade_reader_read_at(const stockade_reader *reader, uint64_t offset, void *out,
                                                     uint64_t length, uint64_t *out_length, stockade_fault *fault);

/* Which bytes of a file hold `length` bytes of plaintext from `offset`: `*file_length` bytes from `*file_offset`, whole
 * chunks behind a header of `header_length` bytes (0 for plain Cobblestone). The file may end before that. For an HTTP
 * Range request, or a part of an object. Errors: NULL_POINTER, ARGUMENT (a header above 1 MiB), TOO_MANY_CHUNKS. */
STOCKADE_API stockade_status stockade_ciphertext_range(uint64_t header_length, uint64_t offset, uint64_t length,
                                                       uint64_t *file_offset, uint64_t *file_length);

/* ---- whole Stockade files --------------------------------------------------------------------------------------- */

/* Called for each run of neighbouring damaged chunks, in order: `count` chunks from `chunk`, `length` bytes of the file from
 * `offset`. Non-zero stops. */
typedef int (*stockade_damage)(void *context, uint64_t chunk, uint64_t count, uint64_t offset, uint64_t length);

typedef struct stockade_file_job {
  uint64_t struct_size;       /* sizeof(stockade_file_job) */
  stockade_progress progress; /* may be null */
  void *progress_context;
  /* Resumption, for regular Stockade files that are not armored and are read and written from their beginnings: a descriptor of
   * a further one, readable and writable, that keeps the journal of the job; -1 or 0 for none. If it is empty, or was never
   * completed, the job begins and the output is cut to nothing. Else it goes on: what the journal says was written is read
   * back, and made again where it is not what was written. The journal is sealed to `journal_keyring`, or to the format's if
   * that is null, and of no use to anyone else. Delete it once the output has its name. Two processes must not work on one
   * output at the same time. */
  int journal_fd;
  const stockade_keyring *journal_keyring;
  stockade_damage damage; /* stockade_file_verify_fd: may be null */
  void *damage_context;
  uint64_t in_length;      /* written: bytes of input read, resumed ones included */
  uint64_t out_length;     /* written: bytes of output that stand now; verify: bytes of intact plaintext */
  uint64_t resumed_length; /* written: bytes of input that a former job had done */
  stockade_fault fault;    /* written */
  /* With a journal: go on although inode or times of the input are not those that it had when the job began; its length must
   * be the same. If not only these but the content has changed, the output is a mixture of both, and only where a changed
   * part had been begun before is it noticed (INPUT_CHANGED). Since 0.5.0. */
  int accept_changed_input;
} stockade_file_job;

/* Makes a Stockade file, or plain Cobblestone, of what `in_fd` holds from its position on, or opens one. Memory is bounded
 * whatever the length: two buffers of 256 KiB and a bit for each thread, and the same again where a pipe is involved; with
 * "cuda" and "hybrid" 64 MiB of pinned memory for each GPU, as much of its own, and at most 256 MiB beside that; scrypt takes
 * 128 bytes times N for its time. Regular files are read and written by all workers by offset. Where the output is a
 * pipe, chunks leave in order as they are authenticated, so some may be out when a later one fails: check the status.
 * A regular output is cut back to where the job began on an error, with all that stands behind, unless it has a journal.
 * Errors: as stockade_file_create and stockade_file_update, IO, INPUT_CHANGED (also: since the interrupted job),
 * CANCELLED, FORKED, MEMORY, OVERLAP (one file for two of input, output and journal), JOURNAL, MODE (a journal where there can be
 * none: pipes, armored files, plain Cobblestone, positions that are not the begin, output in append mode; with a journal, an
 * output or a journal that cannot be both read and written). */
STOCKADE_API stockade_status stockade_file_encrypt_fd(int in_fd, int out_fd, const stockade_format *format,
                                                      stockade_file_job *job, const stockade_engine *engine);
STOCKADE_API stockade_status stockade_file_decrypt_fd(int in_fd, int out_fd, const stockade_format *format,
                                                      stockade_file_job *job, const stockade_engine *engine);
/* Opens every chunk and writes nothing. Goes on behind damaged chunks and reports all of them; the status is then that of
 * the first. Errors: as stockade_file_decrypt_fd. */
STOCKADE_API stockade_status stockade_file_verify_fd(int in_fd, const stockade_format *format, stockade_file_job *job,
                                                     const stockade_engine *engine);

/* ---- one Stockade file by many processes ------------------------------------------------------------------------ */

/* A file that several processes make, open or verify together, on one machine or on many that see it: the bytes are those
 * that one process would write from the same file key and salt. One process creates the job. The others import its terms, or
 * open its journal. Each then does slices: pieces of the file, of equal length but for the last, which need nothing from one
 * another and may be done in any order. Who does which is the caller's business; one that is done twice is done alike.
 *
 * A job holds the file key: it is wiped when freed. It keeps no descriptor and can be shared by threads. Files are read and
 * written by offset from their beginning: the positions of descriptors mean nothing here, and may change. Where processes
 * run on several machines, the file system must show each what the others have written once they have synced it. While
 * stockade_shared_run works on output and journal, and until they are closed, their first byte has a shared lock of their
 * open file description (fcntl, F_OFD_SETLKW), as far as the file system has locks. */
typedef struct stockade_shared_job stockade_shared_job;

typedef enum stockade_shared_kind {
  STOCKADE_SHARED_ENCRYPT = 0,
  STOCKADE_SHARED_DECRYPT = 1,
  STOCKADE_SHARED_VERIFY = 2 /* no output and no journal */
} stockade_shared_kind;

/* Start from {sizeof(stockade_shared_options)} and zeros, with journal_fd -1. */
typedef struct stockade_shared_options {
  uint64_t struct_size; /* sizeof(stockade_shared_options) */
  stockade_shared_kind kind;
  uint32_t processes;   /* expected; 0 for 1: a small file is cut finer, so that there are some slices for each */
  uint64_t slice_bytes; /* of plaintext: a power of two from 256 KiB to 64 MiB; 0 for 4 MiB, or what suits the file */
  /* ENCRYPT without an input file (in_fd -1), for stockade_shared_seal: the length of the plaintext. */
  uint64_t plain_length;
  /* A journal says which slices were begun and which are done, for later processes; of use only to who has a key of its
   * keyring, which is the format's if null. The descriptor of a regular file, readable and writable, which is overwritten; -1
   * for none. */
  int journal_fd;
  const stockade_keyring *journal_keyring;
} stockade_shared_options;

/* Makes a job from regular files. ENCRYPT draws file key and salt; only once all is well it cuts the output to nothing, writes
 * what the file begins with and gives it its final length. DECRYPT and VERIFY open the beginning of the input, DECRYPT also
 * its end, so that a file that was cut or added to is refused at once (or, where its last chunk is damaged, is searched for
 * the first one that is, by `engine`); the output gets its final length. The output may be -1 for VERIFY, and where nothing
 * but stockade_shared_seal and stockade_shared_unseal will be called. `fault` may be null.
 * Errors: NULL_POINTER, ARGUMENT (struct_size, kind, slice_bytes, more than 2^26 slices), MODE (no regular file, or one whose
 * length is not known; output in append mode, or not readable; armor, plain Cobblestone, a journal to verify), OVERLAP (one
 * file for two of input, output and journal), those of stockade_file_create and, for the input, 21 to 36, INPUT_CHANGED,
 * IO. */
STOCKADE_API stockade_status stockade_shared_create(stockade_shared_job **job, int in_fd, int out_fd,
                                                    const stockade_format *format,
                                                    const stockade_shared_options *options,
                                                    const stockade_engine *engine, stockade_fault *fault);

/* Makes the job that a journal is of. `max_work_factor` as in stockade_format. `fault` may be null.
 * Errors: NULL_POINTER, TRUNCATED (the journal is empty or was never completed: there is no job), JOURNAL (damaged, or no
 * journal of a shared job), NO_IDENTITY, PASSPHRASE, WORK_FACTOR (fault.value), MODE (no regular file), IO, LIBRARY,
 * MEMORY. */
STOCKADE_API stockade_status stockade_shared_open_journal(stockade_shared_job **job, int journal_fd,
                                                          const stockade_keyring *keyring, uint32_t max_work_factor,
                                                          stockade_fault *fault);
/* Wipes and frees; null is allowed. */
STOCKADE_API void stockade_shared_free(stockade_shared_job *job);

/* The terms of a job, for processes that run the same build of the library: its file key among them, so whoever sends them
 * wipes them, and sends them only where the key may be known. Always STOCKADE_SHARED_TERMS_BYTES bytes, in any build.
 * Errors: NULL_POINTER; import also MISMATCH (not the terms of a job, or those of another build), LIBRARY, MEMORY. */
#define STOCKADE_SHARED_TERMS_BYTES 512
STOCKADE_API stockade_status stockade_shared_export(const stockade_shared_job *job, void *terms);
STOCKADE_API stockade_status stockade_shared_import(stockade_shared_job **job, const void *terms);

typedef struct stockade_shared_info {
  stockade_shared_kind kind;
  stockade_cipher cipher;
  int has_journal;           /* the job was created with a journal */
  uint64_t slices;           /* at least 1, numbered from 0 */
  uint64_t slice_bytes;      /* of the input in each but the last: of plaintext, or of chunks with their tags */
  uint64_t last_slice_bytes; /* of the input in the last one, maybe 0 */
  uint64_t plain_length;     /* VERIFY: as far as the length of the file can tell */
  uint64_t beginning_length; /* of the Stockade file before its first chunk: header, salt and commitment */
  uint64_t file_length;      /* of the Stockade file */
} stockade_shared_info;
/* Errors: NULL_POINTER. */
STOCKADE_API stockade_status stockade_shared_info_get(const stockade_shared_job *job, stockade_shared_info *info);

/* Which slice is to be done next: its number, or STOCKADE_NO_SLICE. Called by the thread that called
 * stockade_shared_run, between two slices. */
#define STOCKADE_NO_SLICE UINT64_MAX
typedef uint64_t (*stockade_next_slice)(void *context);

/* Start from {sizeof(stockade_shared_work)} and zeros, with the descriptors set. */
typedef struct stockade_shared_work {
  uint64_t struct_size; /* sizeof(stockade_shared_work) */
  int in_fd;            /* the input, by whatever name this process has it */
  int out_fd;           /* readable and writable; ignored to verify */
  int journal_fd;       /* where slices are recorded that are done; -1 or 0 for nowhere */
  stockade_next_slice next;
  void *next_context;
  /* May be null: called now and then, by one thread at a time but not always the same, with the bytes of input that this
   * call has done, and `total`. Non-zero stops. */
  stockade_progress progress;
  void *progress_context;
  uint64_t total;         /* bytes of input in the slices that this process expects to do; 0 when unknown */
  stockade_damage damage; /* VERIFY: may be null; called for each slice by itself, once it is done */
  void *damage_context;
  uint64_t slices;      /* written: how many are done, and recorded if there is a journal */
  uint64_t in_length;   /* written: bytes of input that were read for them */
  uint64_t out_length;  /* written: bytes of output that were made of them; VERIFY: bytes of intact plaintext */
  stockade_fault fault; /* written */
  int accept_changed_input; /* as in stockade_file_job; since 0.5.0 */
} stockade_shared_work;

/* Does slices until there is no next one, several at a time: `next` is asked for as many as keep the workers busy. Each worker
 * holds a slice in memory; up to two more for each, or eight in all, wait for their records. A slice that the journal has
 * recorded is read back from the output, and done again only if it is not what was recorded. ENCRYPT reads a slice once,
 * seals it in memory, records its digest in the journal, waits until the record is on storage, and only then writes it; so no
 * other plaintext is ever sealed under its nonces, whatever is lost of output or journal. What has been written for a slice is on storage before the slice is recorded as done; whatever ends the
 * call, what is done is recorded. Without a journal nothing is synced, which is left to the caller, and only this job object
 * remembers what has been sealed: each slice must then be given to one process only. DECRYPT writes nothing that has not been
 * authenticated; the first bad chunk ends it, and what stands in the output stays hidden until somebody gives it a name. VERIFY
 * goes on behind bad chunks and reports all of them; its status is that of the first. Where several processes fail, the fault
 * with the smallest offset is what one process would have reported.
 * The input must be the one that the job was created with, unchanged since: of its size, times and inode, wherever it is read,
 * and of its device number within the same boot of a machine (see accept_changed_input).
 * Errors: NULL_POINTER, ARGUMENT (struct_size, a slice that there is not), MODE (as stockade_shared_create; a job that was
 * created without an input), OVERLAP, JOURNAL (output or journal are not those of the job; with fault.chunk: what is recorded
 * of the slice of this chunk does not fit what stands in the output, or was altered), INPUT_CHANGED (with fault.chunk: the
 * slice of this chunk was begun with another content), CHUNK, TRUNCATED, FORKED (as stockade_progress says),
 * TRAILING_DATA, IO (also where the file system of the journal has no locks), CANCELLED, MEMORY, LIBRARY; with "cuda" as
 * stockade_file_encrypt_fd. */
STOCKADE_API stockade_status stockade_shared_run(const stockade_shared_job *job, stockade_shared_work *work,
                                                 const stockade_engine *engine);

/* The slices without an authentic record in the journal, ascending: writes the first `size` of their numbers to `slices`,
 * and how many there are in all to `*count`. Errors: NULL_POINTER, MODE (a job without a journal), JOURNAL (the journal is of
 * another job), IO, LIBRARY. */
STOCKADE_API stockade_status stockade_shared_missing(const stockade_shared_job *job, int journal_fd, uint64_t *slices,
                                                     uint64_t size, uint64_t *count);

/* Reads back the slices that `next` gives, by all workers, and compares them with what the journal says of them; the input is
 * not needed, and in_fd ignored. A slice that is not what was recorded is no longer recorded as done, and the others are looked
 * at all the same. Written: the number of slices that are intact, and bytes of output in them. Since 0.5.0.
 * Errors: NULL_POINTER, ARGUMENT, MODE (VERIFY; no journal), CHUNK (`fault` says which slice is the first that is bad, by its
 * first chunk: run it again), INCOMPLETE (some are not done), JOURNAL, IO, CANCELLED, MEMORY, LIBRARY. */
STOCKADE_API stockade_status stockade_shared_read_back(const stockade_shared_job *job, stockade_shared_work *work,
                                                       const stockade_engine *engine);

/* Whether the output is complete, so that it may get its name: every slice is recorded as done in the journal (-1: the caller
 * knows that all are done), the output has its length and its beginning, and of ENCRYPT the chunks at both ends of every slice
 * are authentic, where bytes of neighbours meet. A slice that fails this is no longer recorded as done. It is quick and does
 * not read the rest of the output: stockade_shared_read_back does. `fault` may be null.
 * Errors: NULL_POINTER, MODE, INCOMPLETE (slices are missing: stockade_shared_missing), JOURNAL (the output is not that of
 * the job), CHUNK (`fault` says which; run its slice again), IO, LIBRARY, MEMORY. */
STOCKADE_API stockade_status stockade_shared_check(const stockade_shared_job *job, int out_fd, int journal_fd,
                                                   stockade_fault *fault);

/* Chunks of the job's file in memory, for processes that hold pieces of the plaintext themselves. `offset` is that of the
 * plaintext, a multiple of STOCKADE_CHUNK_BYTES; so is `length`, unless the piece ends where the plaintext does. Then, and
 * only then, the last chunk is part of it, which is shorter and may be empty: a plaintext of whole chunks is followed by an
 * empty one. The chunks lie in the file from beginning_length + offset / STOCKADE_CHUNK_BYTES *
 * STOCKADE_SEALED_CHUNK_BYTES on; there are stockade_shared_sealed_length bytes of them, 0 for a piece that cannot be.
 * `in` and `out` do not overlap. Never seal two different plaintexts at one offset of a job. */
STOCKADE_API uint64_t stockade_shared_sealed_length(const stockade_shared_job *job, uint64_t offset, uint64_t length);
/* Errors: NULL_POINTER, ARGUMENT (a piece that cannot be), MODE (not ENCRYPT), OVERLAP, MEMORY; with "cuda" as stockade_seal. */
STOCKADE_API stockade_status stockade_shared_seal(const stockade_shared_job *job, uint64_t offset, const void *in,
                                                  uint64_t length, void *out, const stockade_engine *engine);
/* `in` holds the chunks, stockade_shared_sealed_length bytes; `out` gets `length` bytes of plaintext, zeros on an error.
 * `fault` may be null. Errors: as stockade_shared_seal, and MODE (ENCRYPT), CHUNK. */
STOCKADE_API stockade_status stockade_shared_unseal(const stockade_shared_job *job, uint64_t offset, const void *in,
                                                    uint64_t length, void *out, const stockade_engine *engine,
                                                    stockade_fault *fault);

/* ---- headers ---------------------------------------------------------------------------------------------------- */

/* The header of a Stockade file, read but not authenticated: for this a key is needed. */
typedef struct stockade_header stockade_header;

typedef struct stockade_stanza {
  const char *kind;      /* such as "key", "rsa-oaep-sha256", "scrypt", "pad" */
  const char *arguments; /* as they stand there, separated by single spaces: "BvMCBRzzCno c2FsdHNhbHRzYWx0c2FsdA" */
  uint64_t body_length;  /* in bytes, decoded */
} stockade_stanza;

/* Parses the header at the start of `length` bytes, which may go on behind it; armored files must be decoded first
 * (stockade_armor_decode). TRUNCATED means that more bytes are needed. `fault` may be null.
 * Errors: NULL_POINTER, MAGIC, VERSION, CIPHER, HEADER_TOO_LONG, HEADER, SCRYPT_NOT_ALONE, TRUNCATED, MEMORY. */
STOCKADE_API stockade_status stockade_header_parse(stockade_header **header, const void *bytes, uint64_t length,
                                                   stockade_fault *fault);
STOCKADE_API void stockade_header_free(stockade_header *header);
STOCKADE_API uint64_t stockade_header_length(const stockade_header *header); /* bytes; 0 for null */
STOCKADE_API stockade_cipher stockade_header_cipher(const stockade_header *header);
/* By index from 0; ARGUMENT past the last. The texts live as long as the header. */
STOCKADE_API stockade_status stockade_header_stanza(const stockade_header *header, uint32_t index,
                                                    stockade_stanza *stanza);

/* Bytes of plaintext that a payload of `length` bytes holds, if it is intact. Errors: NULL_POINTER, TRUNCATED,
 * TOO_MANY_CHUNKS. */
STOCKADE_API stockade_status stockade_plaintext_length(uint64_t payload_length, uint64_t *length);

/* Decodes an armored file, or the beginning of one with `whole` 0, into `out`. Errors: NULL_POINTER, ARMOR, TRAILING_DATA,
 * TRUNCATED (whole, and no end line), OUTPUT_SIZE (three quarters of `length` are always enough). */
STOCKADE_API stockade_status stockade_armor_decode(const void *in, uint64_t length, int whole, void *out,
                                                   uint64_t out_size, uint64_t *out_length, stockade_fault *fault);

/* Makes the header with which the payload behind `header` (all of its `length` bytes) can be opened by other recipients:
 * without the stanzas of `remove`, and with new ones for `add` (may be null). `remove` holds key ids as they stand in the
 * header, and "scrypt" for a passphrase. The file key stays the same, so whoever had it keeps it. The new header is padded
 * to the length of the old one if it fits into that, else to a multiple of 1,024 bytes.
 * Errors: NULL_POINTER, those of stockade_header_parse, NO_IDENTITY, PASSPHRASE, WORK_FACTOR, HEADER_MAC, UNKNOWN_NAME (an
 * id that is not there), SCRYPT_NOT_ALONE, ARGUMENT (no recipient would be left; one is there already), OUTPUT_SIZE,
 * HEADER_TOO_LONG, RANDOM, LIBRARY, MEMORY. */
STOCKADE_API stockade_status stockade_header_rekey(const void *header, uint64_t length,
                                                   const stockade_keyring *identities, uint32_t max_work_factor,
                                                   const char *const *remove, uint32_t remove_count,
                                                   const stockade_keyring *add, void *out, uint64_t out_size,
                                                   uint64_t *out_length, stockade_fault *fault);

/* What is to be done where a header was being replaced in place and the program, or the machine, stopped. `front` is what
 * the file begins with now, at least `copy_length` bytes of it, and `copy` what was saved before: the old header and the
 * STOCKADE_PREAMBLE_BYTES behind it. Nothing is written. Armor is MAGIC; a front whose first 512 bytes are zero is one that
 * the disk has lost, and may be restored.
 * Errors: NULL_POINTER, MAGIC, VERSION, NO_IDENTITY, PASSPHRASE (nothing that was given opens a header that belongs to the
 * file), WORK_FACTOR, RSA_FAULT, RANDOM, LIBRARY, MEMORY. After an error nothing may be concluded of the copy. */
typedef enum stockade_remedy {
  STOCKADE_REMEDY_KEEP = 0,    /* the file's header opens with its payload's commitment, and the copy may go */
  STOCKADE_REMEDY_RESTORE = 1, /* it is damaged; the copy's is authentic and of this payload: all of `copy` but its last
                                  STOCKADE_PREAMBLE_BYTES go over the front of the file */
  STOCKADE_REMEDY_CHOOSE = 2,  /* both are whole and of this payload, and the identities open the copy's alone */
  STOCKADE_REMEDY_FOREIGN = 3  /* the copy is not proved to be of this file: leave both */
} stockade_remedy;
STOCKADE_API stockade_status stockade_header_remedy(const void *front, uint64_t front_length, const void *copy,
                                                    uint64_t copy_length, const stockade_keyring *identities,
                                                    uint32_t max_work_factor, stockade_remedy *remedy,
                                                    stockade_fault *fault);

/* ---- many jobs -------------------------------------------------------------------------------------------------- */

/* Calls item(context, i) for every i below `count`, on the engine's workers and in no order, such as for many small files.
 * An item that uses an engine itself should use a "serial" one. Non-zero from an item keeps further ones from starting.
 * Errors: NULL_POINTER, CANCELLED (an item returned non-zero), and those of a bad environment. */
typedef int (*stockade_item)(void *context, uint64_t index);
STOCKADE_API stockade_status stockade_for_each(uint64_t count, stockade_item item, void *context,
                                               const stockade_engine *engine);

/* ---- GPUs ------------------------------------------------------------------------------------------------------- */

/* A GPU that can be used, by number as in CUDA (CUDA_VISIBLE_DEVICES hides some). */
typedef struct stockade_device {
  char name[128];           /* such as "NVIDIA H200" */
  char bus[16];             /* PCI address, such as "0000:3b:00.0" */
  uint32_t capability;      /* compute capability: 90 for 9.0 */
  uint32_t multiprocessors;
  uint64_t memory;          /* bytes in all */
  int usable;               /* kernels are built for it: compute capability 7.5 or newer */
} stockade_device;

/* By index from 0. Makes no CUDA context. Errors: NULL_POINTER, ARGUMENT (past the last), UNAVAILABLE (there is none at all;
 * stockade_device_absence says why), FORKED, DEVICE. */
STOCKADE_API stockade_status stockade_device_get(uint32_t index, stockade_device *device);

/* Why stockade_device_get finds none, such as "no NVIDIA driver is installed"; empty if there is one. Never null. */
STOCKADE_API const char *stockade_device_absence(void);

/* ---- data in a GPU's memory --------------------------------------------------------------------------------------- */

/* The stockade_device_ functions below work on data in the memory of one GPU, from cudaMalloc or whatever allocates like it.
 * They put kernels into a CUDA stream and return before these have run: nothing is allocated on the GPU and nothing waits,
 * so they can be captured into a CUDA graph. What a stream reports of work before or after them stays there for the caller.
 * `in`, `out`, `aad`, `tag`, verdicts and the workspace are memory of the GPU, IVs are the host's and are not needed after
 * the call. Input may be exactly the output. Any alignment will do; multiples of 16 bytes for `in` and `out` are
 * about twice as fast as others. The bytes are those of the calls for host memory. A key may be used by many threads
 * and streams at once; the first such use of a key prepares it in host memory.
 * Refused: CBC and CFB encryption and OFB, whose blocks depend on one another (MODE); memory that is not a GPU's, or of two
 * GPUs (DEVICE_POINTER); a process that was forked after it had used a GPU (FORKED). */
typedef struct stockade_device_queue {
  uint64_t struct_size;    /* sizeof(stockade_device_queue) */
  void *stream;            /* a cudaStream_t of the GPU that the data lies on; null for its default stream */
  void *workspace;         /* memory of that GPU at a multiple of 16 bytes; may be null where none is needed */
  uint64_t workspace_size; /* what is there: what stockade_device_workspace says is enough, and less may be OUTPUT_SIZE. It
                              holds secrets afterwards; calls that may run at the same time must not share it. */
} stockade_device_queue;

/* How much workspace a message of `length` bytes needs on a device. `unit` is that of XTS, 0 for one unit.
 * Errors: NULL_POINTER, ARGUMENT, UNAVAILABLE, FORKED, DEVICE. */
STOCKADE_API stockade_status stockade_device_workspace(const stockade_key *key, stockade_direction direction,
                                                       uint32_t device, uint64_t length, uint64_t unit,
                                                       uint64_t *size);

/* stockade_encrypt, stockade_decrypt and their forms for data units, without an engine. Errors: theirs, and OUTPUT_SIZE
 * (workspace), UNAVAILABLE, DEVICE, DEVICE_POINTER, FORKED, MEMORY. */
STOCKADE_API stockade_status stockade_device_encrypt(const stockade_key *key, const void *iv, uint64_t iv_length,
                                                     const void *in, uint64_t length, void *out,
                                                     const stockade_device_queue *queue);
STOCKADE_API stockade_status stockade_device_decrypt(const stockade_key *key, const void *iv, uint64_t iv_length,
                                                     const void *in, uint64_t length, void *out,
                                                     const stockade_device_queue *queue);
STOCKADE_API stockade_status stockade_device_encrypt_units(const stockade_key *key, const void *iv, uint64_t iv_length,
                                                           uint64_t unit, const void *in, uint64_t length, void *out,
                                                           const stockade_device_queue *queue);
STOCKADE_API stockade_status stockade_device_decrypt_units(const stockade_key *key, const void *iv, uint64_t iv_length,
                                                           uint64_t unit, const void *in, uint64_t length, void *out,
                                                           const stockade_device_queue *queue);

/* stockade_seal and stockade_open. `tag` is written or read by the GPU. Opening verifies first, and leaves 0 in `*verdict`
 * (4-byte aligned memory of the GPU) if the tag is right; else another number, and `length` zeros in `out`.
 * Errors: as above, and TAG_LENGTH, IV_LENGTH, DATA_TOO_LONG. */
STOCKADE_API stockade_status stockade_device_seal(const stockade_key *key, const void *iv, uint64_t iv_length,
                                                  const void *aad, uint64_t aad_length, const void *in, uint64_t length,
                                                  void *out, void *tag, uint64_t tag_length,
                                                  const stockade_device_queue *queue);
STOCKADE_API stockade_status stockade_device_open(const stockade_key *key, const void *iv, uint64_t iv_length,
                                                  const void *aad, uint64_t aad_length, const void *in, uint64_t length,
                                                  void *out, const void *tag, uint64_t tag_length, uint32_t *verdict,
                                                  const stockade_device_queue *queue);

/* Many independent GCM messages in one launch, each with its own key, IV and lengths: for pages and records of up to some
 * hundred KiB, of which messages of like length stand together best. All pointers of a message but `key` and `iv` are
 * memory of the GPU. `staging` is host memory of at least stockade_device_many_size bytes and so is the workspace of the
 * GPU; both must stay as they are until the stream has come past, and hold secrets. Pinned staging (cudaMallocHost) lets
 * the call return at once. A message that is refused has its status and none is run then. Opening writes a verdict
 * as above for each message. Errors: as for one message, and OUTPUT_SIZE (staging). */
STOCKADE_API uint64_t stockade_device_many_size(uint64_t count);
STOCKADE_API stockade_status stockade_device_seal_many(stockade_message *messages, uint64_t count, void *staging,
                                                       uint64_t staging_size, const stockade_device_queue *queue);
STOCKADE_API stockade_status stockade_device_open_many(stockade_message *messages, uint64_t count, uint32_t *verdicts,
                                                       void *staging, uint64_t staging_size,
                                                       const stockade_device_queue *queue);

/* ---- RSA keys --------------------------------------------------------------------------------------------------- */

/* An RSA key, public or private (with its public half): checked once, when it is made, and bound to the implementation
 * row that was chosen then. Any number of threads may share it. Wiped when freed. */
typedef struct stockade_rsa_key stockade_rsa_key;

/* Asks for the passphrase of an encrypted key, once: writes it to `passphrase`, which holds `size` bytes (1,024), and
 * returns its length, or a negative number to give up. What it has written is wiped. */
typedef int64_t (*stockade_ask_passphrase)(void *context, void *passphrase, uint64_t size);

/* How a key is read. Start from {sizeof(stockade_rsa_reading)} and zeros. */
typedef struct stockade_rsa_reading {
  uint64_t struct_size;        /* sizeof(stockade_rsa_reading) */
  int legacy;                  /* also public keys of 1,024 to 2,047 bits, which then only verify */
  const void *passphrase;      /* of an encrypted private key; null: there is none */
  uint64_t passphrase_length;
  stockade_ask_passphrase ask; /* asked where `passphrase` is null and the key is encrypted; may be null */
  void *ask_context;
  const char *force;           /* null, or such as "bignum:avx2"; stands above STOCKADE_FORCE */
  char type[64];               /* written: on KEY_TYPE what the key is, such as "EC" or "ssh-ed25519"; else empty */
} stockade_rsa_reading;

/* Read a key from all `length` bytes of a file, PEM (RFC 7468) or DER, whose form is recognised by itself. Public:
 * PKCS#1, SubjectPublicKeyInfo, X.509 certificate, `ssh-rsa` line; of a private key that is not encrypted the public
 * half. Private: PKCS#1 and PKCS#8, also encrypted. `reading` may be null for {sizeof(stockade_rsa_reading)} and
 * zeros. Errors: NULL_POINTER, ARGUMENT (struct_size), KEY_FILE, KEY_TYPE, TRUNCATED, TRAILING_DATA, RSA_SIZE (below
 * 2,048 bits, or above 16,384), RSA_MODULUS, RSA_EXPONENT, PASSPHRASE_NEEDED (none given, or asking was given up),
 * UNKNOWN_NAME, UNAVAILABLE, LIBRARY, MEMORY; private ones also PASSPHRASE (the wrong one), KEY_NOT_PRIVATE,
 * RSA_FACTORS, RSA_PRIME, RSA_PRIVATE_EXPONENT, RSA_CRT, RANDOM. */
STOCKADE_API stockade_status stockade_rsa_key_read_public(stockade_rsa_key **key, const void *file, uint64_t length,
                                                          stockade_rsa_reading *reading);
STOCKADE_API stockade_status stockade_rsa_key_read_private(stockade_rsa_key **key, const void *file, uint64_t length,
                                                           stockade_rsa_reading *reading);

/* Makes a private key after FIPS 186-5 A.1.3: `bits` are even, 2,048 to 16,384; `exponent` is odd and above 65,536, or
 * 0 for 65,537. `force` as above. Takes a fraction of a second for 2,048 bits and minutes for 16,384. Errors:
 * NULL_POINTER, RSA_SIZE, ARGUMENT (odd `bits`), RSA_EXPONENT, UNKNOWN_NAME, UNAVAILABLE, RANDOM, MEMORY. */
STOCKADE_API stockade_status stockade_rsa_key_generate(stockade_rsa_key **key, uint32_t bits, uint32_t exponent,
                                                       const char *force);

/* The public half of any key, as a key of its own. Errors: NULL_POINTER, MEMORY. */
STOCKADE_API stockade_status stockade_rsa_key_public(stockade_rsa_key **public_half, const stockade_rsa_key *key);

/* Wipes and frees; null is allowed. */
STOCKADE_API void stockade_rsa_key_free(stockade_rsa_key *key);

/* Of the modulus; 0 for null. */
STOCKADE_API uint32_t stockade_rsa_key_bits(const stockade_rsa_key *key);
/* Of the modulus, so of every signature and ciphertext; 0 for null. */
STOCKADE_API uint64_t stockade_rsa_key_bytes(const stockade_rsa_key *key);
/* 1 or 0. */
STOCKADE_API int stockade_rsa_key_is_private(const stockade_rsa_key *key);
/* The row that runs this key, such as "ifma"; empty for null. */
STOCKADE_API const char *stockade_rsa_key_row(const stockade_rsa_key *key);

/* Bytes that are always enough for any of the files below; 0 for null. */
STOCKADE_API uint64_t stockade_rsa_key_file_bound(const stockade_rsa_key *key);

/* The private key as PKCS#8 in PEM; under a passphrase if there is one (PBES2, AES-256-CBC, PBKDF2 with 600,000 rounds
 * of HMAC-SHA-256, which takes some tenths of a second). `pem` holds a secret. `*length` is written on success; no
 * zero follows. Errors: NULL_POINTER, KEY_NOT_PRIVATE, ARGUMENT (a passphrase that is not null but empty),
 * OUTPUT_SIZE, RANDOM, LIBRARY, MEMORY. */
STOCKADE_API stockade_status stockade_rsa_key_write_private(const stockade_rsa_key *key, const void *passphrase,
                                                            uint64_t passphrase_length, void *pem, uint64_t size,
                                                            uint64_t *length);
/* The public half as SubjectPublicKeyInfo in PEM. Errors: NULL_POINTER, OUTPUT_SIZE, MEMORY. */
STOCKADE_API stockade_status stockade_rsa_key_write_public(const stockade_rsa_key *key, void *pem, uint64_t size,
                                                           uint64_t *length);

/* ---- RSA, one operation ----------------------------------------------------------------------------------------- */

/* Private operations are blinded, and checked against the public key before their result is released (RSA_FAULT). A process
 * may read a key and then be forked: each child draws blinding of its own.
 * Engines compute RSA on the CPU's cores, "cuda" and "hybrid" too, and with two threads or more may give the two halves of
 * one private operation a thread each. A private key does everything; a public one, where a
 * private one is needed, ends with KEY_NOT_PRIVATE. */

typedef enum stockade_rsa_padding {
  STOCKADE_RSA_PSS = 0,     /* RFC 8017 8.1 */
  STOCKADE_RSA_PKCS1V15 = 1 /* RFC 8017 8.2 */
} stockade_rsa_padding;

typedef enum stockade_rsa_salt {
  STOCKADE_RSA_SALT_DIGEST = 0, /* as long as the digest */
  STOCKADE_RSA_SALT_MAX = 1,    /* as long as the key allows */
  STOCKADE_RSA_SALT_GIVEN = 2,  /* `salt_length` bytes */
  STOCKADE_RSA_SALT_ANY = 3     /* verifying: whatever the signature has; signing: as MAX */
} stockade_rsa_salt;

/* Padding. Start from {sizeof(stockade_rsa_options)} and zeros, which is PSS or OAEP with SHA-256 throughout, a salt
 * as long as the digest and no label; null where options are taken means that too. Members that an operation has no
 * use for are checked like the others and then left alone. */
typedef struct stockade_rsa_options {
  uint64_t struct_size;         /* sizeof(stockade_rsa_options) */
  stockade_rsa_padding padding; /* signatures */
  stockade_rsa_salt salt;       /* PSS */
  uint64_t salt_length;         /* PSS with SALT_GIVEN, in bytes */
  const char *hash;             /* null for "sha256"; sha1, sha224, sha384, sha512, sha512-224, sha512-256 */
  const char *mask_hash;        /* PSS, OAEP: MGF1's; null for the same */
  const void *label;            /* OAEP */
  uint64_t label_length;
} stockade_rsa_options;

/* The digest of a message in memory, or of what a descriptor gives from its position to its end. `hash` as in the
 * options, null for "sha256". `digest` has room for `size` bytes, of which 64 are always enough; `*length` is written
 * on success. Errors: NULL_POINTER, UNKNOWN_NAME, OUTPUT_SIZE, IO (errno holds the reason), LIBRARY, MEMORY. */
STOCKADE_API stockade_status stockade_digest(const char *hash, const void *message, uint64_t message_length,
                                             void *digest, uint64_t size, uint64_t *length);
STOCKADE_API stockade_status stockade_digest_fd(const char *hash, int fd, void *digest, uint64_t size,
                                                uint64_t *length);

/* Signs a digest, of exactly as many bytes as the hash gives, or a message, which is hashed first. The signature has
 * stockade_rsa_key_bytes bytes, which are written to `*signature_length` on success; on an error `signature` is left
 * as it is or zero. Errors: NULL_POINTER, KEY_NOT_PRIVATE, ARGUMENT (struct_size, an enum value, a digest of another
 * length), UNKNOWN_NAME (a hash), MESSAGE_LENGTH (digest and salt too long for the key), OUTPUT_SIZE, OVERLAP,
 * RSA_FAULT, RANDOM, LIBRARY, MEMORY. */
STOCKADE_API stockade_status stockade_rsa_sign_digest(const stockade_rsa_key *key, const stockade_rsa_options *options,
                                                      const void *digest, uint64_t digest_length, void *signature,
                                                      uint64_t signature_size, uint64_t *signature_length,
                                                      const stockade_engine *engine);
STOCKADE_API stockade_status stockade_rsa_sign(const stockade_rsa_key *key, const stockade_rsa_options *options,
                                               const void *message, uint64_t message_length, void *signature,
                                               uint64_t signature_size, uint64_t *signature_length,
                                               const stockade_engine *engine);

/* OK if, and only if, the signature is one of this digest, or message, by this key. Errors: NULL_POINTER, ARGUMENT,
 * UNKNOWN_NAME, MESSAGE_LENGTH, all as for signing; SIGNATURE, RSA_LENGTH (the signature is not as long as the
 * modulus), RSA_RANGE, LIBRARY, MEMORY. */
STOCKADE_API stockade_status stockade_rsa_verify_digest(const stockade_rsa_key *key,
                                                        const stockade_rsa_options *options, const void *digest,
                                                        uint64_t digest_length, const void *signature,
                                                        uint64_t signature_length, const stockade_engine *engine);
STOCKADE_API stockade_status stockade_rsa_verify(const stockade_rsa_key *key, const stockade_rsa_options *options,
                                                 const void *message, uint64_t message_length, const void *signature,
                                                 uint64_t signature_length, const stockade_engine *engine);

/* The most bytes that a message under OAEP can have with this key. Errors: NULL_POINTER, ARGUMENT, UNKNOWN_NAME,
 * MESSAGE_LENGTH (the key is too short for the hash). */
STOCKADE_API stockade_status stockade_rsa_capacity(const stockade_rsa_key *key, const stockade_rsa_options *options,
                                                   uint64_t *length);

/* OAEP (RFC 8017 7.1). The ciphertext has stockade_rsa_key_bytes bytes, which are written to `*out_length` on success.
 * Errors: NULL_POINTER, ARGUMENT, UNKNOWN_NAME, RSA_SIZE (a legacy key), MESSAGE_LENGTH, OUTPUT_SIZE, OVERLAP, RANDOM,
 * LIBRARY, MEMORY. */
STOCKADE_API stockade_status stockade_rsa_encrypt(const stockade_rsa_key *key, const stockade_rsa_options *options,
                                                  const void *message, uint64_t message_length, void *out,
                                                  uint64_t out_size, uint64_t *out_length,
                                                  const stockade_engine *engine);
/* `out` has room for stockade_rsa_capacity bytes whatever the message is (stockade_rsa_key_bytes are always enough):
 * all of that is written, the message and then zeros, so that nothing tells its length but `*out_length`. On an error
 * all of `out` that was written is zero and `*out_length` is 0. Whatever is wrong with a ciphertext of the right
 * length, DECRYPTION says so, in the same time. Errors: NULL_POINTER, KEY_NOT_PRIVATE, ARGUMENT, UNKNOWN_NAME,
 * MESSAGE_LENGTH (the key is too short for the hash), RSA_LENGTH, RSA_RANGE (not below the modulus, which anybody can
 * see), DECRYPTION, OUTPUT_SIZE, OVERLAP, RSA_FAULT, RANDOM, LIBRARY, MEMORY. */
STOCKADE_API stockade_status stockade_rsa_decrypt(const stockade_rsa_key *key, const stockade_rsa_options *options,
                                                  const void *ciphertext, uint64_t ciphertext_length, void *out,
                                                  uint64_t out_size, uint64_t *out_length,
                                                  const stockade_engine *engine);

/* The bare numbers, for studies: out = in^e mod n and in^d mod n (RFC 8017 5.1), big-endian, both of
 * stockade_rsa_key_bytes bytes; `out` may be `in`. Nothing is safe that uses these without padding. Errors:
 * NULL_POINTER, KEY_NOT_PRIVATE, RSA_LENGTH, RSA_RANGE, OUTPUT_SIZE, OVERLAP, RSA_FAULT, RANDOM, MEMORY. */
STOCKADE_API stockade_status stockade_rsa_raw_public(const stockade_rsa_key *key, const void *in, uint64_t length,
                                                     void *out, uint64_t out_size, const stockade_engine *engine);
STOCKADE_API stockade_status stockade_rsa_raw_private(const stockade_rsa_key *key, const void *in, uint64_t length,
                                                      void *out, uint64_t out_size, const stockade_engine *engine);

/* ---- RSA, many operations --------------------------------------------------------------------------------------- */

/* One of N independent operations. Unused members are null and 0.
 *            in            out          signature
 *   sign     digest        signature    -
 *   verify   digest        -            to be verified
 *   encrypt  message       ciphertext   -
 *   decrypt  ciphertext    message      -             */
typedef struct stockade_rsa_item {
  const stockade_rsa_key *key; /* own or shared; items of one call may have keys of any sizes and rows */
  const void *in;
  uint64_t length;
  void *out; /* may be `in`, else overlaps nothing of this or any other item */
  uint64_t out_size;
  uint64_t out_length; /* written: as by the one-operation call, 0 on an error */
  const void *signature;
  uint64_t signature_length;
  stockade_status status; /* written: the outcome of this item, as of the one-operation call */
} stockade_rsa_item;

/* Run all items, whatever becomes of some of them: side by side in the lanes of the keys' rows, and on the engine's
 * threads. Neighbours whose keys have one size share lanes best. Return OK if every item is OK, else the status of the
 * first that is not; NULL_POINTER if `items` is null with a non-zero count; and before any item is touched, where the
 * options or the environment are wrong, ARGUMENT or UNKNOWN_NAME, and ARGUMENT for more items than can lie anywhere (128
 * TiB). */
STOCKADE_API stockade_status stockade_rsa_sign_many(stockade_rsa_item *items, uint64_t count,
                                                    const stockade_rsa_options *options,
                                                    const stockade_engine *engine);
STOCKADE_API stockade_status stockade_rsa_verify_many(stockade_rsa_item *items, uint64_t count,
                                                      const stockade_rsa_options *options,
                                                      const stockade_engine *engine);
STOCKADE_API stockade_status stockade_rsa_encrypt_many(stockade_rsa_item *items, uint64_t count,
                                                       const stockade_rsa_options *options,
                                                       const stockade_engine *engine);
STOCKADE_API stockade_status stockade_rsa_decrypt_many(stockade_rsa_item *items, uint64_t count,
                                                       const stockade_rsa_options *options,
                                                       const stockade_engine *engine);

/* ---- RSA, requests as they come --------------------------------------------------------------------------------- */

/* Collects the signatures and decryptions that a server's threads ask for one by one, and computes them in batches on
 * threads of its own, as many as the engine has. A request never waits while a thread has nothing to do: it runs at once,
 * alone if it is alone. Where all threads are busy, requests gather, and the next thread that is free takes up to a batch of
 * them. With a deadline, requests also gather while anything is being computed, until they fill a batch or the oldest of
 * them has waited for so long: that takes fewer cores, and longer. A process that is forked while it has a queue cannot use it
 * in the child (FORKED), where to free it does nothing. */
typedef struct stockade_rsa_queue stockade_rsa_queue;

typedef struct stockade_rsa_queue_options {
  uint64_t struct_size;          /* sizeof(stockade_rsa_queue_options) */
  uint32_t largest_batch;        /* requests; 0 for 8; at most 4,096 */
  uint32_t deadline_us;          /* microseconds that a request may wait for others; 0: none; at most 10,000,000 */
  stockade_rsa_options padding;  /* of all requests; copied, with its label. All zeros means the defaults */
} stockade_rsa_queue_options;

/* `options` may be null for {sizeof(stockade_rsa_queue_options)} and zeros. The engine may be freed
 * afterwards. Errors: NULL_POINTER, ARGUMENT, UNKNOWN_NAME, those of a bad environment, MEMORY
 * (also: no thread can be made). */
STOCKADE_API stockade_status stockade_rsa_queue_create(stockade_rsa_queue **queue,
                                                       const stockade_rsa_queue_options *options,
                                                       const stockade_engine *engine);

/* Computes everything that has been submitted, calls what is to be called, and frees; null is allowed. Nobody may
 * submit any more. Not from a callback. */
STOCKADE_API void stockade_rsa_queue_free(stockade_rsa_queue *queue);

/* Hand in one item, as for sign_many and decrypt_many, from any thread, and return when it is done. Errors:
 * NULL_POINTER, FORKED, MEMORY and those of the item, which stand in `item->status` too. */
STOCKADE_API stockade_status stockade_rsa_queue_sign(stockade_rsa_queue *queue, stockade_rsa_item *item);
STOCKADE_API stockade_status stockade_rsa_queue_decrypt(stockade_rsa_queue *queue, stockade_rsa_item *item);

/* Called once for a submitted item, when it is done, by one of the queue's threads; it may submit, but should not take
 * long. */
typedef void (*stockade_rsa_done)(void *context, stockade_rsa_item *item);

/* The same without waiting: item and buffers stay with the queue until `done` has been called for it, which is not if
 * this ends with an error. What is wrong with the item itself is said by its status, in `done`. Errors: NULL_POINTER,
 * FORKED, MEMORY. */
STOCKADE_API stockade_status stockade_rsa_queue_submit_sign(stockade_rsa_queue *queue, stockade_rsa_item *item,
                                                            stockade_rsa_done done, void *context);
STOCKADE_API stockade_status stockade_rsa_queue_submit_decrypt(stockade_rsa_queue *queue, stockade_rsa_item *item,
                                                               stockade_rsa_done done, void *context);

typedef struct stockade_rsa_queue_statistics {
  uint64_t requests;   /* that are done */
  uint64_t batches;    /* in which they were */
  uint64_t largest;    /* requests in a batch */
  uint64_t median_ns;  /* nanoseconds from handing in to done, of the last 4,096 requests: half of them took longer, */
  uint64_t p99_ns;     /* and one in a hundred longer than this */
} stockade_rsa_queue_statistics;
/* Errors: NULL_POINTER. */
STOCKADE_API stockade_status stockade_rsa_queue_statistics_get(const stockade_rsa_queue *queue,
                                                               stockade_rsa_queue_statistics *statistics);

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
  const char *primitive; /* "aes", "gcm" or "bignum" */
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

/* How the library was built: compiler, build type, sanitizers, as "key=value" words. */
STOCKADE_API const char *stockade_build(void);

#ifdef __cplusplus
}
#endif
#endif
