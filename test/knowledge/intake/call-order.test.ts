import { expect, test } from 'vitest'
import { createCallOrder } from '@inlay/knowledge/internal/intake/admission'

const [ana, ben] = [{ id: 'ana' }, { id: 'ben' }]

test('calls of a caller take effect in their order, and wait for nobody else’s', async () => {
  const order = createCallOrder()
  const effects: string[] = []
  const act = async (name: string) => void effects.push(name)
  const { promise: isPrepared, resolve: prepare } = Promise.withResolvers<void>()
  const large = order.submit(ana, () => isPrepared.then(() => 'large'), act)
  const small = order.submit(ana, async () => 'small', act)
  await order.submit(ben, async () => 'another’s', act)
  await order.submit(undefined, async () => 'the host’s', act)
  expect(effects).toEqual(['another’s', 'the host’s'])
  prepare()
  await Promise.all([large, small])
  expect(effects.slice(2)).toEqual(['large', 'small'])
})

test('a call that cannot be prepared holds up none after it, and closing waits for all', async () => {
  const order = createCallOrder()
  const refused = order.submit(
    ana,
    () => Promise.reject(new Error('refused')),
    async () => {},
  )
  const next = order.submit(
    ana,
    async () => 'next',
    async (name) => name,
  )
  await expect(refused).rejects.toThrow('refused')
  await order.close()
  expect(await next).toBe('next')
  await expect(
    order.submit(
      ben,
      async () => 1,
      async () => 1,
    ),
  ).rejects.toMatchObject({ code: 'CLOSED' })
})
