export {
  createAgent,
  createInternalSearch,
  defaultPersona,
  defineAction,
  inMemoryFiles,
  inMemoryMemories,
  inMemoryPersonas,
  inMemoryProjects,
  inMemoryStores,
  internalSearchId,
  placeMessage,
  recordedPackets,
  replayPackets,
  toMainline,
  toPath,
} from '@inlay/agent'
export type * from '@inlay/agent'
