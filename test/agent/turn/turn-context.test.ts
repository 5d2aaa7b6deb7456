import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider'
import { createStorage } from 'unstorage'
import { describe, expect, test } from 'vitest'
import type { PassageSearch } from '@inlay/agent'
import type { StoredFile } from '@inlay/agent'
import type { FileIndex } from '@inlay/conversations'
import type { Script } from '@inlay/agent/testing'
import { isInlayError, type PersonaCreation, type Principal } from '@inlay/protocol'
import { arriving, incoming, png } from '../../conversations/files/setting.ts'
import { ana, ben, findsAlways, newPassage, newSetting, packetsOf, providerOf, type Setting } from '../setting.ts'

const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing was thrown',
    (error: unknown) => (isInlayError(error) ? error.code : String(error)),
  )

const answers = (count: number): Script => Array.from({ length: count }, () => ['Fine.'])

const setting = (options: Parameters<typeof newSetting>[1] = {}, script: Script = answers(4)): Promise<Setting> =>
  newSetting(script, { storage: createStorage(), ...options })

async function upload(
  { agent }: Setting,
  name: string,
  content: string | Uint8Array,
  caller: Principal = ana,
): Promise<StoredFile> {
  const { files } = await agent.files.upload(arriving(incoming(name, content)), { caller })
  return files[0]!
}

const fieldsOf = (more: Partial<PersonaCreation> = {}): PersonaCreation => ({
  name: 'Ada',
  description: '',
  document_set_ids: [],
  tool_ids: [],
  system_prompt: 'You are Ada.',
  task_prompt: '',
  datetime_aware: true,
  ...more,
})

const textOf = (message: LanguageModelV4Message | undefined): string =>
  typeof message?.content === 'string'
    ? message.content
    : (message?.content ?? []).map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(' ')

const promptOf = (call: LanguageModelV4CallOptions | undefined): string[] =>
  (call?.prompt ?? []).map((message) => `${message.role}: ${textOf(message)}`)

describe('files of a message', () => {
  test('text stands in a message of its own right before the question, also in later turns', async () => {
    const fixture = await setting()
    const file = await upload(fixture, 'leave.md', 'Everybody gets 25 days.')
    const run = await fixture.send({ message: 'How many?', file_descriptors: [{ id: file.fileId }] })
    await run.whole()
    expect(promptOf(fixture.model.requests[0]).slice(1)).toEqual([
      expect.stringMatching(/^user: File "leave.md".*\nEverybody gets 25 days\.$/),
      'user: How many?',
    ])
    await (await fixture.send({ message: 'Really?', chat_session_id: run.sessionId })).whole()
    expect(promptOf(fixture.model.requests[1]).slice(1)).toEqual([
      expect.stringContaining('Everybody gets 25 days.'),
      'user: How many?',
      'assistant: Fine.',
      'user: Really?',
    ])
  })

  test('pictures are parts of the question for models that see, a note for others', async () => {
    for (const takesImages of [true, false]) {
      const fixture = await setting()
      const { scriptedModel } = await import('@inlay/agent/testing')
      const model = scriptedModel(answers(1))
      const seeing = await newSetting([], {
        db: fixture.db,
        storage: createStorage(),
        models: providerOf(model, { takesImages }),
      })
      const file = await upload(seeing, 'plot.png', png)
      await (await seeing.send({ message: 'What is it?', file_descriptors: [{ id: file.id }] })).whole()
      const last = model.requests[0]!.prompt.at(-1)!
      if (takesImages) {
        expect(last.content).toEqual([
          {
            type: 'file',
            filename: 'plot.png',
            mediaType: 'image/png',
            data: { type: 'data', data: expect.any(Uint8Array) },
          },
          { type: 'text', text: 'What is it?' },
        ])
      } else {
        expect(last.content).toEqual([{ type: 'text', text: 'What is it?' }])
        expect(textOf(model.requests[0]!.prompt.at(-2))).toMatch(/plot\.png[^]*cannot see/)
      }
    }
  })

  test('of a spreadsheet only name and id are told', async () => {
    const fixture = await setting()
    const file = await upload(fixture, 'staff.csv', 'name,days\nAna,25')
    await (await fixture.send({ file_descriptors: [{ id: file.id }] })).whole()
    const promptText = textOf(fixture.model.requests[0]!.prompt.at(-2))
    expect(promptText).toContain('staff.csv')
    expect(promptText).toContain(file.fileId)
    expect(promptText).not.toContain('Ana')
  })

  test('longer than the context are cut, and the question is never lost', async () => {
    const fixture = await setting()
    const { scriptedModel } = await import('@inlay/agent/testing')
    const model = scriptedModel(answers(1))
    const small = await newSetting([], {
      db: fixture.db,
      storage: createStorage(),
      models: providerOf(model, { contextTokens: 4_000 }),
    })
    const file = await upload(small, 'long.txt', 'word '.repeat(20_000))
    await (await small.send({ message: 'How many?', file_descriptors: [{ id: file.id }] })).whole()
    const prompt = promptOf(model.requests[0])
    expect(prompt.at(-1)).toBe('user: How many?')
    expect(prompt.at(-2)).toMatch(/File "long\.txt"[^]*left out to save space; its file id is [\da-f-]+\.\]$/)
    expect(prompt.join('').length).toBeLessThan(16_000)
  })

  test('that are somebody else’s or unknown fail the send, and nothing is stored', async () => {
    const fixture = await setting()
    const other = await upload(fixture, 'secret.txt', 'Ben only.', ben)
    for (const id of [other.id, other.fileId, 'unknown']) {
      expect(await codeOf(fixture.send({ file_descriptors: [{ id }] }))).toBe('NOT_FOUND')
    }
    expect((await fixture.agent.sessions.list(ana, { includeEmpty: true })).sessions).toEqual([])
  })
})

describe('an agent', () => {
  test('speaks before the newest question, and its reminder comes last', async () => {
    const fixture = await setting()
    const { id } = await fixture.agent.personas.create(fieldsOf({ task_prompt: 'Rhyme.' }), ana)
    await (await fixture.send({ message: 'Hello', chat_session_info: { persona_id: id } })).whole()
    const prompt = promptOf(fixture.model.requests[0])
    expect(prompt[0]).toMatch(/^system: You are the assistant/)
    expect(prompt.slice(1)).toEqual([
      expect.stringMatching(/^user: .*\nYou are Ada\.$/),
      'user: Hello',
      expect.stringMatching(/^user: .*\nRhyme\.$/),
    ])
  })

  test('may stand instead of the built-in instructions, and not know the date', async () => {
    const fixture = await setting()
    const fields = fieldsOf({ replace_base_system_prompt: true, datetime_aware: false })
    const { id } = await fixture.agent.personas.create(fields, ana)
    await (await fixture.send({ message: 'Hello', chat_session_info: { persona_id: id } })).whole()
    expect(promptOf(fixture.model.requests[0])).toEqual(['system: You are Ada.', 'user: Hello'])
  })

  test('has its own actions alone, narrows searches to its sets and dates, and the request’s sets replace its own', async () => {
    const requests: Parameters<PassageSearch>[0][] = []
    const search: PassageSearch = async (query) => {
      requests.push(query)
      return [newPassage('a', 'text')]
    }
    const script: Script = (_call, index) =>
      index % 2 === 0 ? [{ call: { name: 'internal_search', input: { queries: ['leave'] } } }] : ['Fine.']
    const fixture = await setting(
      {
        search,
        documentSets: async () => [
          { id: 4, name: 'HR' },
          { id: 5, name: 'IT' },
        ],
      },
      script,
    )
    const fields = fieldsOf({ tool_ids: [1], document_set_ids: [4], search_start_date: '2026-01-01T00:00:00.000Z' })
    const { id } = await fixture.agent.personas.create(fields, ana)
    const info = { chat_session_info: { persona_id: id } }
    await (await fixture.send(info)).whole()
    await (
      await fixture.send({
        ...info,
        internal_search_filters: { document_set: ['IT'], time_cutoff: '2025-01-01T00:00:00Z' },
      })
    ).whole()
    await (await fixture.send({ ...info, internal_search_filters: { time_cutoff: '2026-02-01T00:00:00Z' } })).whole()
    expect(requests.map(({ filters }) => [filters?.document_set, filters?.time_cutoff])).toEqual([
      [['HR'], '2026-01-01T00:00:00.000Z'],
      [['IT'], '2026-01-01T00:00:00.000Z'],
      [['HR'], '2026-02-01T00:00:00.000Z'],
    ])
  })

  test('whose sets are gone, or not open to the caller, searches nothing rather than everything', async () => {
    let sets = [{ id: 4, name: 'HR' }]
    const fixture = await setting({ search: findsAlways(newPassage('a', 'text')), documentSets: async () => sets })
    const { id } = await fixture.agent.personas.create(fieldsOf({ tool_ids: [1], document_set_ids: [4] }), ana)
    sets = []
    await (await fixture.send({ chat_session_info: { persona_id: id } })).whole()
    expect(fixture.model.requests[0]!.tools ?? []).toEqual([])
  })

  test('that is private is unknown to others, before anything runs; shared and public ones are not', async () => {
    const fixture = await setting()
    const { personas } = fixture.agent
    const { id } = await personas.create(fieldsOf(), ana)
    const bens = { chat_session_info: { persona_id: id } }
    expect(await codeOf(personas.get(id, ben))).toBe('PERSONA_NOT_FOUND')
    expect(await codeOf(fixture.send(bens, { caller: ben }))).toBe('PERSONA_NOT_FOUND')
    expect(await codeOf(fixture.agent.sessions.create({ persona_id: id }, ben))).toBe('PERSONA_NOT_FOUND')
    expect(await codeOf(personas.update(id, { name: 'Mine' }, ben))).toBe('PERSONA_NOT_FOUND')
    await personas.update(id, { groups: ['crew'] }, ana)
    expect((await personas.get(id, { ...ben, groups: ['crew'] })).name).toBe('Ada')
    await personas.update(id, { users: ['ben'] }, ana)
    expect((await personas.list(ben)).map((persona) => persona.id)).toEqual([0, id])
    expect(await codeOf(personas.remove(id, ben))).toBe('INSUFFICIENT_PERMISSIONS')
    await personas.remove(id, ana)
    expect(await codeOf(fixture.send({ chat_session_info: { persona_id: id } }))).toBe('PERSONA_NOT_FOUND')
  })

  test('names only what exists and what is its owner’s to give; the default one stays as it is', async () => {
    const fixture = await setting({ documentSets: async () => [] })
    const { personas } = fixture.agent
    const foreign = await upload(fixture, 'ben.txt', 'Ben only.', ben)
    expect(await codeOf(personas.create(fieldsOf({ tool_ids: [77] }), ana))).toBe('VALIDATION_ERROR')
    expect(await codeOf(personas.create(fieldsOf({ document_set_ids: [9] }), ana))).toBe('DOCUMENT_SET_NOT_FOUND')
    expect(await codeOf(personas.create(fieldsOf({ user_file_ids: [foreign.id] }), ana))).toBe('NOT_FOUND')
    expect(await codeOf(personas.create(fieldsOf({ is_featured: true }), ana))).toBe('INSUFFICIENT_PERMISSIONS')
    expect(await codeOf(personas.create(fieldsOf({ default_model_configuration_id: 9 }), ana))).toBe('VALIDATION_ERROR')
    expect(await codeOf(personas.update(0, { name: 'Mine' }, ana))).toBe('INVALID_INPUT')
    expect(await codeOf(personas.remove(0, ana))).toBe('INVALID_INPUT')
  })
})

const indexOf = (
  hit: (fileIds: readonly string[]) => string[],
): FileIndex & { readonly put_: string[]; readonly requests: unknown[] } => {
  const put: string[] = []
  const requests: unknown[] = []
  return {
    put_: put,
    requests,
    put: async ({ id }) => void put.push(id),
    remove: async () => {},
    search: async ({ fileIds, filters }) => {
      requests.push({ fileIds, filters })
      return hit(fileIds).map((id) => newPassage(id, 'Found in the file.', { source_type: 'user_file' }))
    },
  }
}

describe('a project', () => {
  test('puts files that fit into the prompt, citable from 1 and first among the final documents', async () => {
    const fixture = await setting({ search: findsAlways(newPassage('outside', 'text')) }, [['It says 25 [1].']])
    const { id } = await fixture.agent.projects.create('Moving', ana)
    const file = await upload(fixture, 'leave.md', 'Everybody gets 25 days.')
    await fixture.agent.projects.link(id, file.id, ana)
    await fixture.agent.projects.update(id, { instructions: 'Be brief.' }, ana)
    const run = await fixture.send({ message: 'How many?', chat_session_info: { project_id: id } })
    const whole = await run.whole()
    expect(promptOf(fixture.model.requests[0]).slice(1)).toEqual([
      expect.stringMatching(/^user: .*\nBe brief\.$/),
      expect.stringContaining('"document":1'),
      'user: How many?',
    ])
    expect(fixture.model.requests[0]!.tools?.map(({ name }) => name)).toEqual(['read_file'])
    expect(whole.answer).toBe('It says 25 [[1]]().')
    expect(whole.citation_info).toEqual([expect.objectContaining({ citation_number: 1, document_id: file.id })])
    expect(whole.top_documents).toEqual([
      expect.objectContaining({
        document_id: file.id,
        semantic_identifier: 'leave.md',
        source_type: 'file',
        link: null,
        boost: 1,
        score: 0,
        blurb: 'Everybody gets 25 days.',
        match_highlights: ['Everybody gets 25 days.'],
      }),
    ])
    const lines = []
    for await (const entries of run.read()) for (const { json } of entries) lines.push(JSON.parse(json))
    expect(packetsOf(lines).find(({ obj }) => obj.type === 'message_start')!.obj).toMatchObject({
      final_documents: [{ document_id: file.id }],
    })
  })

  test('searches files that do not fit, those alone, with the request’s filters', async () => {
    const index = indexOf((ids) => [...ids])
    const script: Script = [[{ call: { name: 'internal_search', input: { queries: ['leave'] } } }], ['Found [1].']]
    const { scriptedModel } = await import('@inlay/agent/testing')
    const model = scriptedModel(script)
    const fixture = await setting({
      fileIndex: index,
      models: providerOf(model, { contextTokens: 6_000 }),
      hasDocuments: async () => false,
      search: findsAlways(newPassage('outside', 'text')),
    })
    const { id } = await fixture.agent.projects.create('Moving', ana)
    const file = await upload(fixture, 'long.txt', 'word '.repeat(10_000))
    await fixture.agent.projects.link(id, file.id, ana)
    const filters = { source_type: ['user_file' as const] }
    const run = await fixture.send({ chat_session_info: { project_id: id }, internal_search_filters: filters })
    const whole = await run.whole()
    expect(index.put_).toContain(file.id)
    expect(index.requests).toEqual([{ fileIds: [file.id], filters: expect.objectContaining(filters) }])
    expect(whole.citation_info.map(({ document_id: hit }) => hit)).toEqual([file.id])
    const forbidden = await fixture
      .send({ chat_session_info: { project_id: id }, allowed_tool_ids: [] })
      .catch(() => undefined)
    await forbidden?.whole()
    expect(model.requests.at(-1)!.tools ?? []).toEqual([])
  })

  test('is only a folder for an agent of its own', async () => {
    const fixture = await setting()
    const { id } = await fixture.agent.projects.create('Moving', ana)
    await fixture.agent.projects.update(id, { instructions: 'Be brief.' }, ana)
    const file = await upload(fixture, 'leave.md', 'Everybody gets 25 days.')
    await fixture.agent.projects.link(id, file.id, ana)
    const persona = await fixture.agent.personas.create(fieldsOf({ system_prompt: '' }), ana)
    const info = { persona_id: persona.id, project_id: id }
    await (await fixture.send({ message: 'Hello', chat_session_info: info })).whole()
    expect(promptOf(fixture.model.requests[0]).slice(1)).toEqual(['user: Hello'])
  })

  test('belongs to its owner, with its files and chats', async () => {
    const fixture = await setting()
    const { projects, sessions } = fixture.agent
    const { id } = await projects.create('Moving', ana)
    const mine = await upload(fixture, 'a.txt', 'A')
    const other = await upload(fixture, 'b.txt', 'B', ben)
    expect(await codeOf(fixture.send({ chat_session_info: { project_id: id } }, { caller: ben }))).toBe('NOT_FOUND')
    expect(await codeOf(projects.get(id, ben))).toBe('NOT_FOUND')
    expect(await codeOf(projects.link(id, mine.id, ben))).toBe('NOT_FOUND')
    expect(await codeOf(projects.link(id, other.id, ana))).toBe('NOT_FOUND')
    const session = await sessions.create({}, ana)
    const bens = await sessions.create({}, ben)
    expect(await codeOf(projects.moveSession(bens.id, id, ana))).toBe('SESSION_NOT_FOUND')
    expect(await codeOf(projects.moveSession(bens.id, id, ben))).toBe('NOT_FOUND')
    await projects.link(id, mine.fileId, ana)
    await projects.link(id, mine.id, ana)
    await projects.moveSession(session.id, id, ana)
    expect((await projects.get(id, ana)).sessions.map((session) => session.id)).toEqual([session.id])
    expect((await projects.sessionFiles(session.id, ana)).map((file) => file.id)).toEqual([mine.id])
    await projects.remove(id, ana)
    expect(await projects.sessionFiles(session.id, ana)).toEqual([])
    expect((await fixture.agent.files.get(mine.id, ana)).name).toBe('a.txt')
    expect((await sessions.get(session.id, ana)).projectId).toBeNull()
  })

  test.each(['', '   ', 'x'.repeat(256)])('needs a name of 1 to 255 characters, not %j', async (name) => {
    const fixture = await setting()
    expect(await codeOf(fixture.agent.projects.create(name, ana))).toBe('INVALID_INPUT')
  })
})
