import { defineAction, InlayError } from 'inlay'
import { z } from 'zod'

const orders = new Map([
  ['A-7', 'packed'],
  ['B-9', 'sent'],
])

export const orderState = defineAction({
  id: 501,
  name: 'order_state',
  displayName: 'Order state',
  description: 'Says how far an order is.',
  input: z.object({ number: z.string() }),
  run: async ({ number }) => {
    const state = orders.get(number)
    if (!state) throw new InlayError('NOT_FOUND', { message: 'There is no such order.' })
    return `Order ${number} is ${state}.`
  },
})

import { actionConformance } from 'inlay/conformance'

const actionTests = actionConformance(() => ({
  action: orderState,
  works: [{ number: 'A-7' }, { number: 'B-9' }],
  misfits: [{ number: 7 }],
  fails: { number: 'lost' },
}))
for (const [title, run] of actionTests) test(title, run)

import type { ActionSource } from 'inlay/agent'

export const shopActions: ActionSource = {
  list: async () => [orderState],
  holds: async (id) => id === orderState.id,
}

import { actionSourceConformance } from 'inlay/conformance'

for (const [title, run] of actionSourceConformance(() => ({ source: shopActions }))) test(title, run)

import type { Principal } from 'inlay'

const sessions = new Map<string, Principal>([
  ['session-of-ana', { id: 'ana', scopes: ['chat'] }],
  ['session-of-ben', { id: 'ben', scopes: ['chat', 'ingest'] }],
])

/** Who calls; undefined when nobody is signed in. */
export function authenticate(request: Request): Principal | undefined {
  return sessions.get(request.headers.get('x-session') ?? '')
}

import { authenticatorConformance } from 'inlay/conformance'

const authenticatorTests = authenticatorConformance(() => ({
  authenticate,
  known: [{ 'x-session': 'session-of-ana' }, { 'x-session': 'session-of-ben' }],
  unknown: [{ 'x-session': 'session-of-eve' }],
}))
for (const [title, run] of authenticatorTests) test(title, run)
