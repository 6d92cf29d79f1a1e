#!/usr/bin/env bash
# stockade-mpi with ranks that reach one another by TCP only, and each in a working folder of its own: what is left of
# several machines where there are no network namespaces.
#
# usage: cli_loopback.sh IMPLEMENTATION MPIRUN STOCKADE_MPI STOCKADE
source "$(dirname "$0")/cli_launch.sh"

if [[ $implementation == mpich ]]; then
  # Each rank counts as a machine.
  export MPIR_CVAR_NOLOCAL=1 UCX_TLS=tcp,self UCX_NET_DEVICES=lo
else
  launch+=(--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo)
fi

begin loopback
mkdir 0 1 2 3
cat >wrapper <<SCRIPT
#!/usr/bin/env bash
cd "$PWD/\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK}"
exec "$program" "\$@"
SCRIPT
chmod +x wrapper
head -c 30000011 /dev/urandom >in
for ranks in 2 4; do
  for schedule in static dynamic; do
    run_as ./wrapper "$ranks" encrypt -v -f -k "$PWD/key" "$PWD/in" --schedule $schedule
    expect_status 0
    if [[ $implementation == mpich ]]; then
      grep -q "^stockade: note: $ranks ranks on $ranks machines" err || fail "the ranks are not apart"
    fi
    "$stockade" decrypt -q -f -k key in.stk -o back && expect_same in back
  done
  run_as ./wrapper "$ranks" decrypt -f -k "$PWD/key" "$PWD/in.stk" -o "$PWD/back"
  expect_status 0
  expect_same in back
done
# A name that means a file of its own to each rank: rank 0 has one, and the others have none.
cp in 0/mine
run_as ./wrapper 2 encrypt -k "$PWD/key" mine
expect_error 1 ".*mine.*"
[[ ! -e 0/mine.stk ]] || fail "an output was made"
finish
