import { defaultPersona, inMemoryStores } from '@inlay/agent'
import {
  conversationStoreConformance,
  fileStoreConformance,
  memoryStoreConformance,
  personaLookupConformance,
  projectLookupConformance,
  runStoreConformance,
  type StoresUnderTest,
} from '@inlay/conformance'
import { describe, test } from 'vitest'
import { inMemoryFiles, inMemoryMemories, inMemoryPersonas, inMemoryProjects } from '../in-memory-library.ts'

const services = { now: () => 1_000, newId: () => crypto.randomUUID() }

function makeStores(): StoresUnderTest {
  let time = 1_000
  const stores = inMemoryStores({ ...services, now: () => time })
  return { ...stores, advance: (milliseconds) => void (time += milliseconds) }
}

describe.each([
  ['conversations', conversationStoreConformance(makeStores)],
  ['runs', runStoreConformance(makeStores)],
  ['files', fileStoreConformance(() => inMemoryFiles(services))],
  ['personas', personaLookupConformance(() => inMemoryPersonas([{ ...defaultPersona, id: 1 }]))],
  [
    'projects',
    projectLookupConformance(async () => ({
      projects: inMemoryProjects([{ id: 1, ownerId: 'ana', instructions: null, fileIds: [] }]),
      id: 1,
    })),
  ],
  ['memories', memoryStoreConformance(() => inMemoryMemories(services))],
])('%s in memory', (_name, tests) => {
  for (const [title, run] of tests) test(title, run)
})
