export {
  createAgent,
  createInternalSearch,
  defaultPersona,
  defineAction,
  inMemoryStores,
  internalSearchId,
  placeMessage,
  recordedPackets,
  replayPackets,
  toMainline,
  toPath,
} from '@inlay/agent'
export type * from '@inlay/agent'
