import type { ModelPicture } from '@inlay/agent'
import { readOutcome } from '@inlay/drivers/internal/mcp/tool-answer'
import { expect, test } from 'vitest'
import { heldFiles, newTurn } from '../../agent/action-turn.ts'

const data = Buffer.from('bytes').toString('base64')
const read = async (content: Record<string, unknown>[], more: Parameters<typeof newTurn>[0] = {}) =>
  readOutcome('draw', { content, structured: undefined, isError: false }, newTurn(more).turn)

test('a model that sees gets the pictures of a tool, people get them as files', async () => {
  const pictures: ModelPicture[] = []
  const showModel = (picture: ModelPicture): void => void pictures.push(picture)
  const image = { type: 'image', data, mimeType: 'image/png' }
  const { text, fileIds } = await read([image], { showModel, files: heldFiles() })
  expect(text).toBe('[image/png, shown to you, and shown to the user as file draw.png-file]')
  expect(fileIds).toEqual(['draw.png-file'])
  expect(pictures).toEqual([{ mediaType: 'image/png', bytes: Buffer.from('bytes') }])
  expect((await read([image], { showModel })).text).toBe('[image/png, shown to you]')
  expect((await read([{ ...image, mimeType: 'image/tiff' }], { showModel })).text).toBe('[image/tiff, not shown]')
})

test.each([
  ['audio', { type: 'audio', data, mimeType: 'audio/wav' }, '[audio/wav, shown to the user as file draw.wav-file]'],
  [
    'an embedded file',
    { type: 'resource', resource: { uri: 'file:///a/report.pdf?x=1', mimeType: 'application/pdf', blob: data } },
    '[application/pdf, shown to the user as file report.pdf-file]',
  ],
  ['an embedded text', { type: 'resource', resource: { uri: 'file:///a.txt', text: 'Hello' } }, 'Hello'],
  [
    'a link',
    { type: 'resource_link', uri: 'https://a.example/x', name: 'x', description: 'Where it is' },
    'x: https://a.example/x\nWhere it is',
  ],
])('%s is told to the model', async (_, part, expected) => {
  expect((await read([part], { files: heldFiles() })).text).toBe(expected)
})
