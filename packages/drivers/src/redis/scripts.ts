/**
 * Lua scripts, each executed atomically. A run is a hash and a list of its lines, so the
 * number of a line is its place in the list. Keys of one installation share a slot of a Redis cluster.
 */

/** KEYS run, session, running; ARGV id, session, runId, openedAt, owner, now. */
export const openScript = `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'session', ARGV[2], 'run', ARGV[3], 'opened', ARGV[4], 'owner', ARGV[5], 'seen', ARGV[6])
redis.call('ZADD', KEYS[2], ARGV[1], ARGV[1])
redis.call('SADD', KEYS[3], ARGV[1])
return 1`

/**
 * KEYS run, lines, running, finished; ARGV id, owner, now, number of the first line, finished, channel, line …; 0: not
 * its own. Keys that all processes have abandoned expire after a day.
 */
export const appendScript = `
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'seen', ARGV[3])
local known = redis.call('LLEN', KEYS[2])
for at = 7, #ARGV do
  if tonumber(ARGV[4]) + at - 7 > known then redis.call('RPUSH', KEYS[2], ARGV[at]) end
end
if ARGV[5] == '1' then
  redis.call('HSET', KEYS[1], 'finished', '1')
  redis.call('SREM', KEYS[3], ARGV[1])
  redis.call('ZADD', KEYS[4], ARGV[3], ARGV[1])
end
redis.call('EXPIRE', KEYS[1], 86400)
redis.call('EXPIRE', KEYS[2], 86400)
if ARGV[5] == '1' or #ARGV > 6 then redis.call('PUBLISH', ARGV[6], ARGV[1]) end
return 1`

/** KEYS session; ARGV beginning of the names of runs, channel; the unfinished runs. */
export const stopScript = `
local asked = {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local run = ARGV[1] .. id
  if redis.call('HEXISTS', run, 'finished') == 0 then
    redis.call('HSET', run, 'stopped', '1')
    redis.call('PUBLISH', ARGV[2], id)
    table.insert(asked, id)
  end
end
return asked`

/** KEYS run; ARGV owner, seen, new owner, now; returns 1 if the new owner took the run. */
export const takeScript = `
local run = redis.call('HMGET', KEYS[1], 'owner', 'seen', 'finished')
if run[1] ~= ARGV[1] or run[2] ~= ARGV[2] or run[3] then return 0 end
redis.call('HSET', KEYS[1], 'owner', ARGV[3], 'seen', ARGV[4])
return 1`
