import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { scriptedModel } from '@inlay/agent/testing'
import type { InlayOptions } from 'inlay'
import { expect, test } from 'vitest'
import { providerOf } from '../../agent/setting.ts'
import { leaveTraces, newHeldSetting, people } from './held.ts'

type Row = Readonly<Record<string, unknown>>
const linesOf = (folder: string, name: string): Row[] =>
  readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row)
const textOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))
    .join('\n')

/** Tests of exports from a database. */
export function testExports(options: () => Promise<InlayOptions>): void {
  test('the export of a person has all that is stored of them, hidden things too, and nothing of others and no secret', async () => {
    const model = providerOf(scriptedModel([['It is a heron.'], ['It is a crow.'], ['It is an owl.']]))
    const setting = newHeldSetting({ ...(await options()), model })
    const held = setting.open()
    const traces = await leaveTraces(held, 'ann', '../../etc/pass\\wd "x".txt')
    await leaveTraces(held, 'bob')
    await held.call('ann', 'DELETE', `/chat/delete-chat-session/${traces.sessionId}`)
    await held.call('ann', 'POST', '/user/memories', { content: '[1, 2]' })
    const { key } = await held.inlay.keys.create({ name: 'of a script', scopes: ['chat'], owner: people.ann })
    const folder = join(setting.folder, 'of ann')
    const exported = await held.inlay.export({ folder, person: people.ann })

    expect(linesOf(folder, 'chat_sessions')).toMatchObject([
      { id: traces.sessionId, created_at: '2026-01-12T00:00:00.000Z', deleted_at: '2026-01-12T00:00:00.000Z' },
    ])
    expect(linesOf(folder, 'chat_messages')).toMatchObject([
      { role: 'system' },
      { role: 'user', text: 'What of annsword?', files: [{ name: 'a.txt' }] },
      { role: 'assistant', text: 'It is a heron.', feedback: 'like', id: traces.messageId },
    ])
    expect(linesOf(folder, 'chat_feedback')).toMatchObject([{ text: 'annsword', is_positive: 1 }])
    expect(linesOf(folder, 'memories')).toMatchObject([{ content: 'annsword' }, { content: '[1, 2]' }])
    expect(linesOf(folder, 'projects')).toMatchObject([{ id: traces.projectId, name: 'annsword' }])
    expect(linesOf(folder, 'personas')).toMatchObject([{ settings: { systemPrompt: 'annsword' } }])
    expect(linesOf(folder, 'personalizations')).toMatchObject([{ name: 'annsword' }])
    expect(linesOf(folder, 'workspace')).toMatchObject([{ kind: 'input_prompt', value: { content: 'annsword' } }])
    expect(linesOf(folder, 'api_key')).toMatchObject([{ name: 'annsword', scopes: ['chat'] }, { name: 'of a script' }])
    expect(linesOf(folder, 'audit')).toMatchObject([
      { time: '2026-01-12T00:00:00.000Z', operation: 'deleteChatSession', target: { session_id: traces.sessionId } },
    ])
    const [file] = linesOf(folder, 'files')
    expect(file).toMatchObject({ id: traces.fileId, kind: 'plain_text' })
    expect(String(file!['path'])).toMatch(/^files\/[\w.-]+$/)
    expect(readFileSync(join(folder, String(file!['path'])), 'utf8')).toBe('My annsword is here.')
    expect(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))).toMatchObject({
      person: people.ann,
      rows: { ...exported.rows, chat_messages: 3, files: 1 },
      files: 1,
      filesWithoutBytes: 0,
    })
    const texts = textOf(folder)
    for (const absent of ['bobsword', 'quillon', key.slice(-20), '"hash"']) expect(texts).not.toContain(absent)

    await expect(held.inlay.export({ folder, person: people.ann })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect((await held.inlay.export({ folder: join(setting.folder, 'none'), person: 'nobody' })).rows).toMatchObject({
      chat_sessions: 0,
    })
    expect((await held.call('admin', 'GET', '/admin/audit?operation=export')).body).toMatchObject([
      { target: { user_id: 'nobody' }, status: 200 },
      { target: { user_id: people.ann }, status: 400 },
      { target: { user_id: people.ann }, status: 200 },
    ])
  })

  test('an export of everything has documents with texts and metadata, large ones in parts, and no secret', async () => {
    const setting = newHeldSetting({ ...(await options()), secretKey: undefined })
    const held = setting.open()
    const accept = (id: string, text: string) =>
      held.inlay.knowledge.accept({
        document: { id, semantic_identifier: id, sections: [{ text }], metadata: { kind: 'bird' } },
      })
    await accept('heron', 'The heron waits.')
    await accept('long', 'The heron waits. '.repeat(80_000))
    await leaveTraces(held, 'bob')
    const folder = join(setting.folder, 'all')
    await held.inlay.export({ folder })
    expect(linesOf(folder, 'documents').map(({ id }) => id)).toEqual(['heron', 'long'])
    expect(linesOf(folder, 'contents').find(({ id }) => id === 'heron')).toMatchObject({
      content: { sections: [{ text: 'The heron waits.' }], metadata: { kind: 'bird' } },
    })
    const { large_id: largeId } = linesOf(folder, 'contents').find(({ id }) => id === 'long')!
    const parts = linesOf(folder, 'content_parts').filter(({ large_id: id }) => id === largeId)
    expect(parts.map(({ text }) => text).join('')).toBe('The heron waits. '.repeat(80_000))
    expect(linesOf(folder, 'large_contents')).toMatchObject([{ id: largeId, document: { metadata: { kind: 'bird' } } }])
    expect(linesOf(folder, 'chat_sessions')).toHaveLength(1)
    expect(existsSync(join(folder, 'outbox.jsonl'))).toBe(false)
  })
}
