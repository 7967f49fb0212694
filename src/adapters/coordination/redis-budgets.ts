import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { CallBudget, Coordination } from '#ports/coordination.ts';
import { partMs, partsCounted, rememberedMs } from './call-window.ts';

/**
 * The calls of a budget by part of its window (`call-window.ts`), by the clock of the server. Takes a call, unless only
 * the use is asked for. Returns the ms until it is worth asking again (0: taken), the calls, and the ms of a pause.
 */
const budgetScript = `
local width, counted, calls = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local part = math.floor(now / width)
local first, taken, paused = part, 0, 0
local fields = redis.call('HGETALL', KEYS[1])
for at = 1, #fields, 2 do
  local field, value = fields[at], tonumber(fields[at + 1])
  if field == 'paused_until' then
    paused = math.max(0, value - now)
  elseif tonumber(field) <= part - counted or tonumber(field) > part then
    redis.call('HDEL', KEYS[1], field)
  else
    first = math.min(first, tonumber(field))
    taken = taken + value
  end
end
if ARGV[4] == 'use' then return {0, taken, paused} end
if paused > 0 then return {paused, taken, paused} end
if taken >= calls then return {math.max(1, (first + counted) * width - now), taken, 0} end
redis.call('HINCRBY', KEYS[1], part, 1)
if redis.call('PTTL', KEYS[1]) < counted * width then
  redis.call('PEXPIRE', KEYS[1], counted * width)
end
return {0, taken + 1, 0}`;

const pauseScript = `
local time = redis.call('TIME')
local until_ms = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[1])
local former = tonumber(redis.call('HGET', KEYS[1], 'paused_until') or 0)
redis.call('HSET', KEYS[1], 'paused_until', string.format('%d', math.max(former, until_ms)))
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1`;

interface BudgetParts {
  /** @throws GatewayError `coordination_unavailable` */
  readonly execute: <T>(question: (client: Redis) => Promise<T>) => Promise<T>;
  readonly keyOf: (kind: string, name: string) => string;
  /** Of this node, while the server is away. */
  readonly local: Coordination;
  readonly logger: Logger | undefined;
}

/** Budgets of calls in Redis; while it is away, each node has the budget for itself. */
export function redisBudgets({
  execute,
  keyOf,
  local,
  logger,
}: BudgetParts): Pick<Coordination, 'takeCall' | 'pauseCalls' | 'callsTaken'> {
  const ask = async (name: string, budget: CallBudget, question: 'take' | 'use') => {
    const args = [keyOf('budget', name), partMs(budget), partsCounted, budget.calls, question];
    const answer = await execute((client) => client.eval(budgetScript, 1, ...args));
    const [waitMs, calls, pausedMs] = answer as [number, number, number];
    return { waitMs, calls, pausedMs };
  };
  const isAway = (error: unknown): void =>
    logger?.debug({ err: error }, 'budget of calls only of this node');
  return {
    async takeCall(name, budget) {
      try {
        return (await ask(name, budget, 'take')).waitMs;
      } catch (error) {
        isAway(error);
        return local.takeCall(name, budget);
      }
    },
    async pauseCalls(name, budget, ms) {
      try {
        const keptMs = Math.ceil(Math.max(rememberedMs(budget), ms));
        const args = [keyOf('budget', name), Math.ceil(ms), keptMs];
        await execute((client) => client.eval(pauseScript, 1, ...args));
      } catch (error) {
        isAway(error);
        await local.pauseCalls(name, budget, ms);
      }
    },
    async callsTaken(name, budget) {
      try {
        const { calls, pausedMs } = await ask(name, budget, 'use');
        return { calls, pausedMs };
      } catch (error) {
        isAway(error);
        return local.callsTaken(name, budget);
      }
    },
  };
}
