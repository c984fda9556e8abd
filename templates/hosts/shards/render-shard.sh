#!/bin/sh
# Renders one shard of the fleet and pushes it: render-shard.sh I/N BRANCH
#
# Shards write disjoint files, but they share the ownership file of each output folder, so a push that another shard came
# before is not merged: this shard renders again upon what the other pushed, which costs one N-th of the fleet.
# METALMARK_RENDERED names the folders to commit, METALMARK_ARGUMENTS what else `render` is told.
set -eu
shard=$1
branch=$2
left=${METALMARK_ATTEMPTS:-50}
while [ "$left" -gt 0 ]; do
  left=$((left - 1))
  git fetch --quiet --depth 1 origin "$branch"
  git reset --quiet --hard FETCH_HEAD
  # Findings at error level end the job with status 1: nothing of this shard is written.
  metalmark render --frozen --shard "$shard" ${METALMARK_ARGUMENTS:-}
  for folder in ${METALMARK_RENDERED:-rendered}; do
    # A shard without clusters may have made no folder.
    if [ -e "$folder" ] || [ -n "$(git ls-files -- "$folder")" ]; then
      git add --all -- "$folder"
    fi
  done
  if git diff --cached --quiet; then
    exit 0
  fi
  # A commit of rendered files starts no pipeline.
  git commit --quiet --message "Render shard $shard [skip ci]"
  if git push --quiet origin "HEAD:refs/heads/$branch"; then
    exit 0
  fi
done
echo "shard $shard was never the first to push" >&2
exit 2
