import {
  conversationStoreConformance,
  fileStoreConformance,
  memoryStoreConformance,
  personaLookupConformance,
  projectLookupConformance,
  runStoreConformance,
  sharedRunsConformance,
  type SharedRunsUnderTest,
  type StoresUnderTest,
} from '@inlay/conformance'
import {
  createConversations,
  createConversationStore,
  createRunStore,
  sqlSharedRuns,
  type Conversations,
} from '@inlay/conversations'
import { createMemories } from '@inlay/conversations/internal/memories/manage-memories'
import { projectLookup } from '@inlay/conversations/internal/projects/manage-projects'
import type { ConversationTables } from '@inlay/conversations/internal/tables/database'
import { scriptedModel } from '@inlay/agent/testing'
import { createStorage } from 'unstorage'
import { describe, onTestFinished, test } from 'vitest'
import { ana, newDatabase, providerOf } from '../agent/setting.ts'
import { newFiles } from './files/setting.ts'

async function makeStores(): Promise<StoresUnderTest> {
  const db = (await newDatabase()).withTables<ConversationTables>()
  let time = 1_000
  const services = { now: () => time, newId: () => crypto.randomUUID() }
  return {
    conversations: createConversationStore(db, services),
    runs: createRunStore(db, services.now),
    advance: (milliseconds) => void (time += milliseconds),
  }
}

async function makeSharedRuns(): Promise<SharedRunsUnderTest> {
  const db = await newDatabase()
  let time = 1_000
  return {
    process: () => sqlSharedRuns({ db, now: () => time }),
    advance: (milliseconds) => void (time += milliseconds),
  }
}

async function makeConversations(): Promise<Conversations> {
  const conversations = createConversations({
    db: await newDatabase(),
    models: providerOf(scriptedModel([])),
    storage: createStorage(),
  })
  onTestFinished(() => conversations.close())
  return conversations
}

describe.each([
  ['conversations', conversationStoreConformance(makeStores)],
  ['runs', runStoreConformance(makeStores)],
  ['shared runs', sharedRunsConformance(makeSharedRuns)],
  ['files', fileStoreConformance(async () => (await newFiles()).files)],
  ['personas', personaLookupConformance(async () => (await makeConversations()).personas)],
  [
    'projects',
    projectLookupConformance(async () => {
      const db = await newDatabase()
      const conversations = createConversations({ db, models: providerOf(scriptedModel([])) })
      const { id } = await conversations.projects.create('Herons', ana)
      return { projects: projectLookup(db.withTables<ConversationTables>()), id }
    }),
  ],
  [
    'memories',
    memoryStoreConformance(async () => {
      const db = (await newDatabase()).withTables<ConversationTables>()
      return createMemories({ db, now: () => 1_000, isOn: true })
    }),
  ],
])('%s on SQLite', (_name, tests) => {
  for (const [title, run] of tests) test(title, run)
})
