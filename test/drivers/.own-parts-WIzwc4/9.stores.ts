import { inMemoryStores, type ConversationStore } from 'inlay/agent'

/** The stores in memory, which also count the messages of each person. */
export function countingStores(services: { now: () => number; newId: () => string }, counts: Map<string, number>) {
  const stores = inMemoryStores(services)
  const conversations: ConversationStore = {
    ...stores.conversations,
    async open(opening) {
      const opened = await stores.conversations.open(opening)
      counts.set(opening.ownerId, (counts.get(opening.ownerId) ?? 0) + 1)
      return opened
    },
  }
  return { ...stores, conversations }
}

import { conversationStoreConformance, runStoreConformance } from 'inlay/conformance'

function makeStores() {
  let time = 1_000
  const services = { now: () => time, newId: () => crypto.randomUUID() }
  const advance = (milliseconds: number): void => void (time += milliseconds)
  return { ...countingStores(services, new Map()), advance }
}
for (const [title, run] of conversationStoreConformance(makeStores)) test(title, run)
for (const [title, run] of runStoreConformance(makeStores)) test(title, run)
