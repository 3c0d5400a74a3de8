#!/bin/bash
#SBATCH --job-name=mirrored
#SBATCH --ntasks=1
#SBATCH --chdir=.
export TFDIST_TASKS=worker=1
cause="$PWD/.tfdist-$SLURM_JOB_ID"
srun --kill-on-bad-exit=1 --label sh -c 'trap asked=yes TERM; "$@" || { code=$?; [ "$asked$code" = yes143 ] || ln -s "$SLURM_PROCID $code $SLURMD_NODENAME" "$0" 2>/dev/null; exit "$code"; }' "$cause" tfdist train --flagfile=strategies/mirrored/train.flags
code=$?
if [ "$code" -ne 0 ] && told=$(readlink "$cause")
then read -r rank code host <<< "$told"
echo "task $rank on $host failed first, with exit code $code" >&2
fi
rm -f "$cause"
exit "$code"
