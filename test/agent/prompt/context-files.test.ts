import { createStorage } from 'unstorage'
import { expect, test } from 'vitest'
import { createFileExcerpts } from '@inlay/agent/internal/actions/internal-search/file-search'
import type { Excerpt } from '@inlay/agent'
import type { FileIndex } from '@inlay/conversations'
import { scriptedModel } from '@inlay/agent/testing'
import { heldFiles } from '../action-turn.ts'
import { arriving, incoming } from '../../conversations/files/setting.ts'
import { ana, newPassage, newSetting, providerOf } from '../setting.ts'

const excerptOf = (content: string): Excerpt => ({ content, span: { first: 0, last: 2 } })
const part = { first: 0, last: 2, chunk: 1, caller: ana }

test('what stands around a passage comes from where the passage was found, and from nowhere else', async () => {
  const files = await heldFiles({ name: 'a' }).list()
  const index: FileIndex = {
    put: async () => {},
    remove: async () => {},
    search: async () => [],
    excerpt: async ({ fileId }) => excerptOf(`file ${fileId}`),
  }
  const read = createFileExcerpts(index, files, async ({ documentId }) => excerptOf(`document ${documentId}`))
  expect(await read({ documentId: 'a-own', ...part })).toMatchObject({ content: 'file a-own' })
  expect(await read({ documentId: 'd', ...part })).toMatchObject({ content: 'document d' })
  const alone = createFileExcerpts({ ...index, excerpt: undefined }, files, undefined)
  expect(await alone({ documentId: 'a-own', ...part })).toBeUndefined()
  expect(await alone({ documentId: 'd', ...part })).toBeUndefined()
})

test('the model reads passages of long files with what stands around them', async () => {
  const model = scriptedModel([[{ call: { name: 'internal_search', input: { queries: ['leave'] } } }], ['25.']])
  const requests: string[] = []
  const fileIndex: FileIndex = {
    put: async () => {},
    remove: async () => {},
    search: async ({ fileIds }) => [
      { ...newPassage(fileIds[0]!, 'The middle.', { chunk_ind: 1 }), span: { first: 1, last: 1 } },
    ],
    excerpt: async ({ fileId }) => (requests.push(fileId), excerptOf('Before.\n\nThe middle.\n\nBehind.')),
  }
  const fixture = await newSetting([], {
    fileIndex,
    storage: createStorage(),
    models: providerOf(model, { contextTokens: 20_000 }),
  })
  const { files } = await fixture.agent.files.upload(arriving(incoming('long.txt', 'word '.repeat(20_000))), {
    caller: ana,
  })
  const { id } = await fixture.agent.projects.create('Moving', ana)
  await fixture.agent.projects.link(id, files[0]!.id, ana)
  await (await fixture.send({ chat_session_info: { project_id: id } })).whole()
  expect(requests).toEqual([files[0]!.id])
  expect(JSON.stringify(model.requests[1]?.prompt)).toContain('Behind.')
})
