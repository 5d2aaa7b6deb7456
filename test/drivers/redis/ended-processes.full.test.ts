import { redisRuns, type RedisModule } from '@inlay/drivers/redis'
import { expect, test } from 'vitest'

/** A Redis that holds one running answer of the process `first`, seen just now. */
const lib = {
  createClient: () => ({
    isReady: true,
    on: () => {},
    once: () => {},
    connect: async () => {},
    ping: async () => 'PONG',
    destroy: () => {},
    sMembers: async () => ['7'],
    hGetAll: async () => ({ session: 's', run: '1', opened: '0', owner: 'first', seen: '1000' }),
    eval: async () => 1,
  }),
} as unknown as RedisModule

test('a running answer is taken over at once from a process that has ended, and not from one that runs', async () => {
  const takenOver = async (isGone: (owner: string) => boolean): Promise<readonly number[]> => {
    const processes = { owner: 'second', isGone }
    const runs = redisRuns({ url: 'redis://localhost', lib, now: () => 1000, processes })
    return (await runs.takeAbandoned(60_000)).map(({ messageId }) => messageId)
  }
  expect(await takenOver((owner) => owner === 'first')).toEqual([7])
  expect(await takenOver(() => false)).toEqual([])
})
