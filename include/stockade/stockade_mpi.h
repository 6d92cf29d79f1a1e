/* Stockade over MPI: messages and files that many processes work on together. The C interface of libstockade_mpi, a
 * static library that is built for each MPI library by itself and linked with the static libstockade.
 *
 * The bytes are those that one process makes with the functions of stockade.h; who did what leaves no trace in them.
 *
 * Rules that hold for every function here, beside those of stockade.h:
 *  - A *team* is the processes of a communicator, its *ranks*. A function that is called collective must be called by
 *    all of them, in the same order. It then returns the same status everywhere: OK if all ranks have done their part,
 *    else the status of the lowest rank that failed (for IO with its errno), so that an error anywhere ends the work
 *    everywhere.
 *  - Null pointers for which there is a status count as such an error: the others do not wait for that rank. Only a
 *    null team or reader ends the call on the one rank that passes it.
 *  - A team has a communicator of its own; messages of the caller's never meet those of a team.
 *  - A team's functions must be called by one thread at a time; MPI_THREAD_FUNNELED suffices if that is the main
 *    thread. An engine's own threads never call MPI.
 *  - STOCKADE_ERROR_MPI means that the MPI library itself has failed, as when a process is gone. Others may then wait
 *    for ever, and the team is of no more use: end the program with stockade_mpi_abort or MPI_Abort.
 *  - Keys and plaintext pass between processes as MPI carries them: on most networks unencrypted, and through buffers
 *    of the MPI library's, which are not wiped.
 */
#ifndef STOCKADE_STOCKADE_MPI_H
#define STOCKADE_STOCKADE_MPI_H

#include <mpi.h>

#include "stockade/stockade.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- teams ------------------------------------------------------------------------------------------------------ */

typedef struct stockade_mpi_team stockade_mpi_team;

/* Makes a team of the processes of an intracommunicator, which is duplicated and may be freed. Collective. MPI must
 * have been initialised. Errors: NULL_POINTER, ARGUMENT (an intercommunicator, MPI_COMM_NULL), STATE (MPI is not
 * initialised, or finalised already), MISMATCH (the ranks run different builds of this library), MEMORY, MPI. */
STOCKADE_API stockade_status stockade_mpi_team_create(stockade_mpi_team **team, MPI_Comm communicator);

/* For programs that leave MPI to this library: initialises it, unless that has been done, and makes a team of
 * MPI_COMM_WORLD, which is one rank for a program that was not started by mpirun. If it has initialised MPI,
 * stockade_mpi_team_free ends it: with MPI_Finalize, or without where that may never return (MPICH before 4.2 over TCP,
 * docs/mpi.md); MPI must not be called after it. `argc` and `argv` may be null. Errors: as stockade_mpi_team_create. */
STOCKADE_API stockade_status stockade_mpi_team_start(stockade_mpi_team **team, int *argc, char ***argv);

/* Collective, before MPI_Finalize; null is allowed. What was made of the team must be freed first. */
STOCKADE_API void stockade_mpi_team_free(stockade_mpi_team *team);

/* Ends all processes of the team at once, for when one cannot go on and the others would wait for it. Does not return,
 * unless for null. */
STOCKADE_API void stockade_mpi_abort(stockade_mpi_team *team, int exit_status);

/* For null: 0 and 1. */
STOCKADE_API uint32_t stockade_mpi_rank(const stockade_mpi_team *team);
STOCKADE_API uint32_t stockade_mpi_size(const stockade_mpi_team *team);
/* Among the ranks of the team that share this rank's machine. */
STOCKADE_API uint32_t stockade_mpi_local_rank(const stockade_mpi_team *team);
STOCKADE_API uint32_t stockade_mpi_local_size(const stockade_mpi_team *team);

/* The MPI library in its own words, such as "Open MPI v4.1.4"; one line. Never null. */
STOCKADE_API const char *stockade_mpi_library(void);

/* Seconds that this rank has spent in MPI for this team, waiting included, since the team was made; 0 for null. */
STOCKADE_API double stockade_mpi_seconds(const stockade_mpi_team *team);

/* ---- what teams agree on ---------------------------------------------------------------------------------------- */

/* OK if every rank says so, else the status of the lowest rank that says otherwise, with its errno; `*rank` (may be
 * null) becomes that rank, or UINT32_MAX. Nobody returns before all have called. Collective. Errors: NULL_POINTER
 * (team), MPI. */
STOCKADE_API stockade_status stockade_mpi_agree(stockade_mpi_team *team, stockade_status status, uint32_t *rank);

/* Writes what `root` has in `bytes` to the `bytes` of all others; `length` is the same on all ranks. For secrets the
 * caller wipes `bytes`, and no copy is made here. Collective. Errors: NULL_POINTER, ARGUMENT (no such rank),
 * MISMATCH (roots or lengths differ), MPI. */
STOCKADE_API stockade_status stockade_mpi_broadcast(stockade_mpi_team *team, uint32_t root, void *bytes,
                                                    uint64_t length);

/* Collects `length` bytes (at most 2^20, the same on all ranks) of each rank in `all`, on every rank and in their
 * order. Collective. Errors: NULL_POINTER, ARGUMENT (length), MISMATCH (lengths differ), MPI. */
STOCKADE_API stockade_status stockade_mpi_gather(stockade_mpi_team *team, const void *bytes, uint64_t length,
                                                 void *all);

/* Part `index` of `count` nearly equal parts of [0, items), the longer ones first; `*begin` is `*end` where there are
 * more parts than items. Not collective. Errors: NULL_POINTER, ARGUMENT (index not below count). */
STOCKADE_API stockade_status stockade_mpi_share(uint64_t items, uint32_t index, uint32_t count, uint64_t *begin,
                                                uint64_t *end);

/* Numbers that each go to one rank, whichever asks first: for work that ranks take when they are free. The counter lies
 * in the memory of rank 0, which takes no part in it; over networks that cannot reach into memory (such as TCP) the
 * others wait until rank 0 does something with MPI, such as asking for a number itself. */
typedef struct stockade_mpi_counter stockade_mpi_counter;

/* Begins with 0. Collective. Errors: NULL_POINTER, MEMORY, MPI. */
STOCKADE_API stockade_status stockade_mpi_counter_create(stockade_mpi_counter **counter, stockade_mpi_team *team);
/* The next number that no rank has had. Not collective. Errors: NULL_POINTER, MPI. */
STOCKADE_API stockade_status stockade_mpi_counter_next(stockade_mpi_counter *counter, uint64_t *number);
/* Collective; null is allowed. */
STOCKADE_API void stockade_mpi_counter_free(stockade_mpi_counter *counter);

/* ---- what each rank works with ---------------------------------------------------------------------------------- */

/* An engine for this rank, as stockade_engine_create makes it but for two things. With `threads` 0 and nothing in the
 * environment, ranks of one machine that may run on the same cores share these instead of each having all. "cuda" and
 * "hybrid" use one GPU each, the ranks of a machine in turn, unless STOCKADE_DEVICES says which. Collective.
 * Errors: those of stockade_engine_create, MPI. */
STOCKADE_API stockade_status stockade_mpi_engine_create(stockade_engine **engine, stockade_mpi_team *team,
                                                        const char *name, uint32_t threads);

/* Makes a key on every rank of the `length` bytes that `root` has; `bytes`, `length` and `mode` of the others are not
 * read. `force` is each rank's own. Collective. Errors: those of stockade_key_create, MPI. */
STOCKADE_API stockade_status stockade_mpi_key_create(stockade_key **key, stockade_mpi_team *team, uint32_t root,
                                                     stockade_mode mode, const void *bytes, uint64_t length,
                                                     const char *force);

/* ---- one message that is distributed ---------------------------------------------------------------------------- */

/* The message is what the ranks have, in their order: `length` bytes from `in` to `out` on each, maybe none. No data
 * moves between ranks. All lengths but that of the last rank that has any must be multiples of 16. `key` and `engine`
 * are each rank's own, of one and the same key; `iv`, `aad` and, for opening, `tag` are rank 0's, and those of others
 * are not read. All collective. */

/* ECB and CTR without padding. Errors: those of stockade_encrypt, MODE (another mode), DATA_LENGTH (also: a rank's
 * bytes end within a block and are not the last), MISMATCH (keys or directions differ), MPI. On an error found before
 * the work nothing is written, and on others `out` is all zeros on every rank. */
STOCKADE_API stockade_status stockade_mpi_encrypt(stockade_mpi_team *team, const stockade_key *key, const void *iv,
                                                  uint64_t iv_length, const void *in, uint64_t length, void *out,
                                                  const stockade_engine *engine);
STOCKADE_API stockade_status stockade_mpi_decrypt(stockade_mpi_team *team, const stockade_key *key, const void *iv,
                                                  uint64_t iv_length, const void *in, uint64_t length, void *out,
                                                  const stockade_engine *engine);

/* GCM. Sealing writes the tag on every rank; `tag_length` is rank 0's, and every rank's `tag` has room for that many
 * bytes. Opening: on AUTHENTICATION `out` is all zeros on every rank. Errors: those of stockade_seal and stockade_open,
 * DATA_TOO_LONG (also: all together), and as above. */
STOCKADE_API stockade_status stockade_mpi_seal(stockade_mpi_team *team, const stockade_key *key, const void *iv,
                                               uint64_t iv_length, const void *aad, uint64_t aad_length, const void *in,
                                               uint64_t length, void *out, void *tag, uint64_t tag_length,
                                               const stockade_engine *engine);
STOCKADE_API stockade_status stockade_mpi_open(stockade_mpi_team *team, const stockade_key *key, const void *iv,
                                               uint64_t iv_length, const void *aad, uint64_t aad_length, const void *in,
                                               uint64_t length, void *out, const void *tag, uint64_t tag_length,
                                               const stockade_engine *engine);

/* ---- one message at one rank ------------------------------------------------------------------------------------ */

/* stockade_encrypt and the like for a message that `root` has: it sends pieces to ranks that are free, works itself
 * meanwhile, and gets them back. `team`, `root`, `key` and `engine` are given by every rank; what comes between `key`
 * and `engine` is not read on others than `root`. Such a rank needs up to 4 MiB of memory, which the team keeps, wiped.
 * Pays where encrypting costs more than copying, as on ranks without AES instructions or with GPUs; else the root does
 * most of it by itself. On an error `out` is all zeros, unless the error was found before the work: then it is
 * untouched. All collective. Errors: those of the functions of stockade.h, ARGUMENT (no such rank), MODE (not ECB, CTR,
 * or GCM), MISMATCH (keys, directions or roots differ), MEMORY, MPI. */
STOCKADE_API stockade_status stockade_mpi_root_encrypt(stockade_mpi_team *team, uint32_t root, const stockade_key *key,
                                                       const void *iv, uint64_t iv_length, const void *in,
                                                       uint64_t length, void *out, const stockade_engine *engine);
STOCKADE_API stockade_status stockade_mpi_root_decrypt(stockade_mpi_team *team, uint32_t root, const stockade_key *key,
                                                       const void *iv, uint64_t iv_length, const void *in,
                                                       uint64_t length, void *out, const stockade_engine *engine);
STOCKADE_API stockade_status stockade_mpi_root_seal(stockade_mpi_team *team, uint32_t root, const stockade_key *key,
                                                    const void *iv, uint64_t iv_length, const void *aad,
                                                    uint64_t aad_length, const void *in, uint64_t length, void *out,
                                                    void *tag, uint64_t tag_length, const stockade_engine *engine);
STOCKADE_API stockade_status stockade_mpi_root_open(stockade_mpi_team *team, uint32_t root, const stockade_key *key,
                                                    const void *iv, uint64_t iv_length, const void *aad,
                                                    uint64_t aad_length, const void *in, uint64_t length, void *out,
                                                    const void *tag, uint64_t tag_length,
                                                    const stockade_engine *engine);

/* ---- one file --------------------------------------------------------------------------------------------------- */

/* Makes the file `path` of what the ranks have: each gives `length` bytes, maybe none, that belong at `offset` of the
 * plaintext. All together they are the plaintext, without gaps or overlaps, in any order and cut anywhere. Every rank
 * seals from its buffer and writes by itself; less than a chunk (16 KiB) of each moves between ranks. What comes of it
 * is a Stockade file, or plain Cobblestone, like any other: readable by one process, and by any number of ranks.
 * `path` is each rank's own name of one and the same file in a folder that all can write to; `format` is rank 0's, and
 * not read on others. The file is written under a temporary name beside it, made durable, and given its name by rank 0
 * when all ranks have done their part; a file of that name is replaced. On an error nothing is left of it. Collective.
 * `fault` may be null; it is written on every rank. Errors: those of stockade_file_create, ARGUMENT (gaps or overlaps),
 * MODE (armor), TOO_MANY_CHUNKS, IO (also: a rank does not see the file of rank 0; errno is then ENOENT), MEMORY,
 * MPI. */
STOCKADE_API stockade_status stockade_mpi_file_write(stockade_mpi_team *team, const char *path,
                                                     const stockade_format *format, const void *buffer,
                                                     uint64_t offset, uint64_t length, const stockade_engine *engine,
                                                     stockade_fault *fault);

/* Reads `length` bytes at `offset` of the plaintext to `buffer`, each rank what it wants; `*out_length` says how many:
 * fewer where the plaintext ends before that. Rank 0 alone needs the `format`, whose keyring it opens the file with,
 * once; those of others are not read. On an error, whosever it is, no rank has anything left in `buffer`, and
 * `*out_length` is 0. Collective. Errors: those of stockade_reader_create and stockade_reader_read_at, INPUT_CHANGED
 * (the ranks see files of different length), MPI. */
STOCKADE_API stockade_status stockade_mpi_file_read(stockade_mpi_team *team, const char *path,
                                                    const stockade_format *format, void *buffer, uint64_t offset,
                                                    uint64_t length, uint64_t *out_length,
                                                    const stockade_engine *engine, stockade_fault *fault);

/* The same for a file that is read more than once, or whose length must be known first: the key is unwrapped once. What
 * `format` points to must stay until the call returns; team and engine must outlive the reader. Wiped when freed. */
typedef struct stockade_mpi_reader stockade_mpi_reader;
/* Collective. Errors: as stockade_mpi_file_read. */
STOCKADE_API stockade_status stockade_mpi_reader_create(stockade_mpi_reader **reader, stockade_mpi_team *team,
                                                        const char *path, const stockade_format *format,
                                                        const stockade_engine *engine, stockade_fault *fault);
/* Not collective; null is allowed. */
STOCKADE_API void stockade_mpi_reader_free(stockade_mpi_reader *reader);
/* Bytes of plaintext. 0 for a null reader. */
STOCKADE_API uint64_t stockade_mpi_reader_length(const stockade_mpi_reader *reader);
/* Collective. Errors: NULL_POINTER, IO, CHUNK, MEMORY, MPI, and what a GPU fails with. */
STOCKADE_API stockade_status stockade_mpi_reader_read_at(stockade_mpi_reader *reader, uint64_t offset, void *buffer,
                                                         uint64_t length, uint64_t *out_length, stockade_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
