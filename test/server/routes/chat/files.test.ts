import { describe, expect, test } from 'vitest'
import { createStorage } from 'unstorage'
import { toUserId, type UploadAnswer, type UserFile } from '@inlay/protocol'
import { png } from '../../../conversations/files/setting.ts'
import { newService, type Service } from '../../conversation.ts'

const service = (options: Parameters<typeof newService>[1] = {}): Promise<Service> =>
  newService([['Fine.'], ['Fine.']], { storage: createStorage(), ...options })

type Entry = readonly [name: string, content: string | Uint8Array, type?: string]

function formOf(entries: readonly Entry[], fields: Record<string, string> = {}): FormData {
  const form = new FormData()
  for (const [name, content, type = ''] of entries) {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content)
    form.append('files', new Blob([bytes], { type }), name)
  }
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form
}

async function upload(
  { ask }: Service,
  entries: readonly Entry[],
  {
    path = '/user/projects/file/upload',
    key,
    fields,
  }: { path?: string; key?: string; fields?: Record<string, string> } = {},
): Promise<{ status: number; body: UploadAnswer }> {
  const response = await ask(path, { method: 'POST', body: formOf(entries, fields), ...(key ? { key } : {}) })
  return { status: response.status, body: (await response.json()) as UploadAnswer }
}

async function uploadOne(setting: Service, ...entry: Entry): Promise<UserFile> {
  return (await upload(setting, [entry])).body.user_files[0]!
}

describe('an upload', () => {
  test('gives back the id that its client has for each file, whichever way the client names it', async () => {
    const fixture = await service()
    const long = `${'長い名前 '.repeat(12)}.md`
    const bytes = (text: string): number => Buffer.byteLength(text)
    const fields = {
      temp_id_map: JSON.stringify({
        [`${bytes('One.')}|a.md`]: 'by size and name',
        '|b.md': 'by name without a size',
        'c.md': 'by the bare name',
        [`${bytes('Four.')}|${long.slice(0, 50)}`]: 'by size and the beginning of the name',
        '999|e.md': 'another size',
      }),
    }
    const entries: Entry[] = [
      ['a.md', 'One.'],
      ['b.md', 'Two.'],
      ['c.md', 'Three.'],
      [long, 'Four.'],
      ['e.md', 'Five.'],
    ]
    const { body } = await upload(fixture, entries, { fields })
    expect(body.user_files.map(({ temp_id: id }) => id)).toEqual([
      'by size and name',
      'by name without a size',
      'by the bare name',
      'by size and the beginning of the name',
      null,
    ])
  })

  test.each(['/user/projects/file/upload', '/user/file/upload'])(
    'to %s answers with the files as they are known from then on',
    async (path) => {
      const fixture = await service()
      const { status, body } = await upload(fixture, [['leave.md', '# Leave\n\n25 days.']], {
        path,
        fields: { temp_id_map: '{"leave.md":"tmp-1"}' },
      })
      expect(status).toBe(200)
      expect(body).toEqual({
        rejected_files: [],
        user_files: [
          {
            id: expect.stringMatching(/^[\da-f-]{36}$/),
            file_id: expect.stringMatching(/^[\da-f-]{36}$/),
            temp_id: 'tmp-1',
            name: 'leave.md',
            project_id: null,
            user_id: toUserId('alice'),
            created_at: '2026-01-12T09:30:00.000Z',
            status: 'COMPLETED',
            reason: null,
            last_accessed_at: null,
            file_type: 'text/markdown',
            chat_file_type: 'plain_text',
            token_count: expect.any(Number),
            chunk_count: null,
          },
        ],
      })
      const file = body.user_files[0]!
      for (const id of [file.id, file.file_id]) {
        expect(await fixture.fetchJson(`/user/projects/file/${id}`)).toEqual({
          status: 200,
          body: { ...file, temp_id: null },
        })
      }
    },
  )

  test('takes what it can and tells why not the rest', async () => {
    const fixture = await service({ limits: { maxFileBytes: 1_000 } })
    const { status, body } = await upload(fixture, [
      ['good.txt', 'Good.'],
      ['big.txt', 'x'.repeat(1_001)],
      ['photo.png', 'not a picture'],
    ])
    expect(status).toBe(200)
    expect(body.user_files.map(({ name }) => name)).toEqual(['good.txt'])
    expect(body.rejected_files).toEqual([
      { file_name: 'big.txt', reason: expect.stringContaining('MB') },
      { file_name: 'photo.png', reason: expect.stringContaining('picture') },
    ])
  })

  test('of nothing, of another form, and without a key is refused as documented', async () => {
    const { ask } = await service()
    const empty = await ask('/user/projects/file/upload', { method: 'POST', body: formOf([], { project_id: '1' }) })
    expect(empty.status).toBe(422)
    expect(await empty.json()).toEqual({
      detail: [{ loc: ['body', 'files'], msg: expect.any(String), type: 'missing' }],
    })
    const json = await ask('/user/projects/file/upload', { json: { files: [] } })
    expect(json.status).toBe(422)
    const anonymous = await ask('/user/projects/file/upload', { method: 'POST', body: formOf([['a', 'b']]), key: null })
    expect(anonymous.status).toBe(401)
  })

  test('into a project that is not the caller’s is a 404 and keeps nothing', async () => {
    const fixture = await service()
    const { status } = await upload(fixture, [['a.txt', 'A']], { fields: { project_id: '99' } })
    expect(status).toBe(404)
    expect((await fixture.fetchJson('/user/files/recent')).body).toEqual([])
    const wrong = await upload(fixture, [['a.txt', 'A']], { fields: { project_id: 'seven' } })
    expect(wrong.status).toBe(422)
  })

  test('is for keys that chat, and at its own address also for those that ingest', async () => {
    const fixture = await service()
    expect((await upload(fixture, [['a.txt', 'A']], { key: 'key-importer' })).status).toBe(403)
    expect((await upload(fixture, [['a.txt', 'A']], { key: 'key-importer', path: '/user/file/upload' })).status).toBe(
      200,
    )
  })

  test('without a storage is something this deployment does not do', async () => {
    const fixture = await service({ storage: undefined })
    expect((await upload(fixture, [['a.txt', 'A']])).status).toBe(501)
  })
})

describe('the listing', () => {
  test('is the same at its addresses, with and without the last slash', async () => {
    const fixture = await service()
    const { id } = await uploadOne(fixture, 'a.txt', 'A')
    for (const path of ['/user/projects/file/', '/user/projects/file', '/user/files/recent']) {
      expect((await fixture.fetchJson(path)).body).toEqual([expect.objectContaining({ id })])
    }
    expect((await fixture.fetchJson('/user/projects/file/', { key: 'key-bob' })).body).toEqual([])
  })

  test('of statuses leaves out what is unknown or somebody else’s', async () => {
    const fixture = await service()
    const { id } = await uploadOne(fixture, 'a.txt', 'A')
    const unknown = '00000000-0000-4000-8000-000000000000'
    const json = { file_ids: [unknown, id] }
    expect((await fixture.fetchJson('/user/projects/file/statuses', { json })).body).toEqual([
      expect.objectContaining({ id }),
    ])
    expect((await fixture.fetchJson('/user/projects/file/statuses', { json, key: 'key-bob' })).body).toEqual([])
    expect((await fixture.fetchJson('/user/projects/file/statuses', { json: { file_ids: ['x'] } })).status).toBe(422)
  })
})

describe('a file', () => {
  test('is unknown to everybody else', async () => {
    const fixture = await service()
    const { id, file_id: fileId } = await uploadOne(fixture, 'a.txt', 'A')
    for (const name of [id, fileId]) {
      expect((await fixture.fetchJson(`/user/projects/file/${name}`, { key: 'key-bob' })).status).toBe(404)
      expect((await fixture.fetchJson(`/chat/file/${name}`, { key: 'key-bob' })).status).toBe(404)
      expect(
        (await fixture.fetchJson(`/user/projects/file/${name}`, { key: 'key-bob', method: 'DELETE' })).status,
      ).toBe(404)
      expect((await fixture.fetchJson(`/chat/file/${name}`, { key: 'key-operator' })).status).toBe(404)
    }
    expect((await fixture.fetchJson('/chat/file/nothing')).body).toMatchObject({ error_code: 'NOT_FOUND' })
  })

  test('that is removed is gone; one in a project stays and the project is named', async () => {
    const fixture = await service()
    const first = await uploadOne(fixture, 'a.txt', 'A')
    const two = await uploadOne(fixture, 'b.txt', 'B')
    const project = (await fixture.fetchJson('/user/projects/create?name=Moving', { method: 'POST' })).body as {
      id: number
    }
    await fixture.ask(`/user/projects/${project.id}/files/${two.id}`, { method: 'POST' })
    const remove = async (id: string): Promise<unknown> =>
      (await fixture.fetchJson(`/user/projects/file/${id}`, { method: 'DELETE' })).body
    expect(await remove(first.id)).toEqual({ has_associations: false, project_names: [], assistant_names: [] })
    expect(await remove(two.id)).toEqual({ has_associations: true, project_names: ['Moving'], assistant_names: [] })
    expect((await fixture.fetchJson(`/chat/file/${first.file_id}`)).status).toBe(404)
    expect((await fixture.ask(`/chat/file/${two.file_id}`)).status).toBe(200)
  })

  test('comes back byte for byte, may be kept for good, and is not sent again to who has it', async () => {
    const fixture = await service()
    const { file_id: id } = await uploadOne(fixture, 'plot.png', png, 'image/png')
    const response = await fixture.ask(`/chat/file/${id}`)
    expect(response.status).toBe(200)
    expect(Buffer.compare(Buffer.from(await response.arrayBuffer()), png)).toBe(0)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(png.byteLength),
      etag: `"${id}"`,
      'cache-control': 'private, max-age=31536000, immutable',
      'content-disposition': "inline; filename*=UTF-8''plot.png",
    })
    for (const known of [`"${id}"`, `W/"${id}"`, `"other", "${id}"`, '*']) {
      const again = await fixture.ask(`/chat/file/${id}`, { headers: { 'if-none-match': known } })
      expect(again.status).toBe(304)
      expect(again.headers.get('etag')).toBe(`"${id}"`)
      expect(await again.text()).toBe('')
    }
    expect((await fixture.ask(`/chat/file/${id}`, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
  })

  test.each([
    ['page.html', '<p>Hi</p><script>alert(1)</script>', 'text/html'],
    ['image.svg', '<svg onload="alert(1)"/>', 'image/svg+xml'],
    ['page.xhtml', '<html><p>Hi</p></html>', 'application/xhtml+xml'],
    ['feed.xml', '<x/>', 'text/xml'],
    ['sneaky', '<p>Hi</p><script>alert(1)</script>', 'text/html'],
    ['app.js', 'alert(1)', 'text/javascript'],
  ])('%s can never run here: it is downloaded, sandboxed, and not sniffed', async (name, content, type) => {
    const fixture = await service()
    const { file_id: id } = await uploadOne(fixture, name, content, type)
    const { headers } = await fixture.ask(`/chat/file/${id}`)
    expect(headers.get('content-disposition')).toMatch(/^attachment;/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
  })

  test('has a name that cannot break out of its header', async () => {
    const fixture = await service()
    const { file_id: id, name } = await uploadOne(fixture, '../../etc/pas"swd\r\nx-evil: 1.txt', 'A')
    expect(name).not.toMatch(/[\r\n/]/)
    const { headers } = await fixture.ask(`/chat/file/${id}`)
    expect(headers.get('x-evil')).toBeNull()
    expect(headers.get('content-disposition')).toMatch(/^inline; filename\*=UTF-8''[\w.%-]+$/)
  })

  test('that is a spreadsheet is shown as sheets when asked to', async () => {
    const fixture = await service()
    const { file_id: id, chat_file_type: kind } = await uploadOne(fixture, 'staff.csv', 'name,days\nAna,25', 'text/csv')
    expect(kind).toBe('tabular')
    const response = await fixture.ask(`/chat/file/${id}?parsed=true`)
    expect(await response.json()).toEqual({
      sheets: [{ name: 'staff.csv', csv: 'name,days\nAna,25', truncated: false }],
    })
    expect(response.headers.get('etag')).toBe(`"${id}-parsed"`)
    const again = await fixture.ask(`/chat/file/${id}?parsed=true`, { headers: { 'if-none-match': `"${id}-parsed"` } })
    expect(again.status).toBe(304)
    const text = await uploadOne(fixture, 'a.txt', 'A')
    expect((await fixture.fetchJson(`/chat/file/${text.file_id}?parsed=true`)).status).toBe(400)
  })
})

test('a storage that is down is a 503 for uploads and downloads, and tells nothing of itself', async () => {
  const storage = createStorage()
  const fixture = await service({ storage })
  const { file_id: id } = await uploadOne(fixture, 'plot.png', png, 'image/png')
  const [write, read] = [storage.setItemRaw, storage.getItemRaw]
  const fail = async () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7:9000'))
  Object.assign(storage, { setItemRaw: fail, getItemRaw: fail })
  const down = { status: 503, body: { error_code: 'SERVICE_UNAVAILABLE', detail: expect.not.stringContaining('10.0') } }
  expect(await upload(fixture, [['late.txt', 'Too late.']])).toMatchObject(down)
  const response = await fixture.ask(`/chat/file/${id}`)
  expect({ status: response.status, body: await response.json() }).toMatchObject(down)
  expect(response.headers.get('retry-after')).toBe('2')
  expect(fixture.setting.errors.map(String)).toContain('Error: connect ECONNREFUSED 10.0.0.7:9000')
  Object.assign(storage, { setItemRaw: write, getItemRaw: read })
  expect((await upload(fixture, [['late.txt', 'In time.']])).status).toBe(200)
  expect((await fixture.ask(`/chat/file/${id}`)).status).toBe(200)
})

describe('a message with files', () => {
  test('shows the file in the history as it was sent, both ids filled in', async () => {
    const fixture = await service()
    const file = await uploadOne(fixture, 'leave.md', 'Everybody gets 25 days.')
    const { session } = await fixture.say('How many?', { file_descriptors: [{ id: file.id }] })
    const { body } = await fixture.fetchJson(`/chat/get-chat-session/${session}`)
    const { messages } = body as { messages: { message_type: string; files: unknown[] }[] }
    expect(messages.find(({ message_type: type }) => type === 'user')!.files).toEqual([
      { id: file.file_id, type: 'plain_text', name: 'leave.md', user_file_id: file.id },
    ])
    expect((await fixture.fetchJson(`/user/projects/file/${file.id}`)).body).toMatchObject({
      last_accessed_at: '2026-01-12T09:30:00.000Z',
    })
  })

  test.each(['unknown', 'foreign', 'mismatched'])(
    'that is %s is refused with 404 before anything is stored',
    async (kind) => {
      const fixture = await service()
      const mine = await uploadOne(fixture, 'mine.txt', 'Mine.')
      const other = (await upload(fixture, [['other.txt', 'Bob’s.']], { key: 'key-bob' })).body.user_files[0]!
      const descriptor = {
        unknown: { id: '00000000-0000-4000-8000-000000000000' },
        foreign: { id: other.file_id, user_file_id: other.id },
        mismatched: { id: mine.file_id, user_file_id: other.id },
      }[kind]
      const { status, body } = await fixture.fetchJson('/chat/send-chat-message', {
        json: { message: 'Hello', stream: false, file_descriptors: [descriptor] },
      })
      expect({ status, body }).toMatchObject({ status: 404, body: { error_code: 'NOT_FOUND' } })
      expect((await fixture.fetchJson('/chat/get-user-chat-sessions?include_failed_chats=true')).body).toMatchObject({
        sessions: [],
      })
    },
  )
})
