import { expect, test } from 'vitest'
import { eventually, startService, temporaryFolder, type Service } from './process.ts'

interface UserFile {
  id: string
  file_id: string
  name: string
  status: string
}

interface Answer {
  answer: string
  top_documents: { document_id: string; semantic_identifier: string; source_type: string }[]
  citation_info: { citation_number: number; document_id: string }[]
  chat_session_id: string
}

async function upload(service: Service, files: Record<string, string>, projectId?: number): Promise<UserFile[]> {
  const form = new FormData()
  for (const [name, text] of Object.entries(files)) form.append('files', new Blob([text]), name)
  if (projectId !== undefined) form.append('project_id', String(projectId))
  // The form sets its own content type.
  const request = new Request('http://form/', { method: 'POST', body: form })
  const response = await service.fetch('/user/projects/file/upload', {
    method: 'POST',
    body: new Uint8Array(await request.arrayBuffer()),
    headers: { 'content-type': request.headers.get('content-type')! },
  })
  expect(response.status).toBe(200)
  const { user_files: taken, rejected_files: rejected } = (await response.json()) as Record<string, UserFile[]>
  expect(rejected).toEqual([])
  return taken!
}

async function ask(service: Service, message: string, more: object = {}): Promise<Answer> {
  const response = await service.fetch('/chat/send-chat-message', {
    method: 'POST',
    body: JSON.stringify({ message, stream: false, ...more }),
  })
  const body = (await response.json()) as Answer
  expect(response.status, JSON.stringify(body)).toBe(200)
  return body
}

const json = async <T>(response: Response): Promise<T> => (await response.json()) as T

const policy = `# Leave policy of the Lighthouse

Keepers of the lighthouse get 31 days of paid leave a year. Unused days expire on the last day of March.

Sick notes are handed to the harbour master within three days.`

test('a file is uploaded, asked about, and given back, also after a kill in between', async () => {
  const folder = temporaryFolder()
  let service = await startService(folder.path)
  try {
    const [file] = await upload(service, { 'leave.md': policy })
    const first = await ask(service, 'How many days of paid leave do keepers get?', {
      file_descriptors: [{ id: file!.id }],
    })
    expect(first.answer).toContain('31 days')

    await service.kill()
    service = await startService(folder.path)

    const fetched = await service.fetch(`/chat/file/${file!.file_id}`)
    expect(await fetched.text()).toBe(policy)
    expect(fetched.headers.get('content-disposition')).toMatch(/^attachment/)
    const [listed] = await json<UserFile[]>(await service.fetch('/user/files/recent'))
    expect(listed).toMatchObject({ id: file!.id, status: 'COMPLETED' })

    // The conversation remembers its file.
    const second = await ask(service, 'To whom are sick notes handed?', { chat_session_id: first.chat_session_id })
    expect(second.answer).toContain('harbour master')
    const session = await json<{ messages: { message_type: string; files: { name: string }[] }[] }>(
      await service.fetch(`/chat/get-chat-session/${first.chat_session_id}`),
    )
    expect(session.messages.flatMap(({ files }) => files.map(({ name }) => name))).toEqual(['leave.md'])
  } finally {
    await service.stop()
    folder.remove()
  }
})

test('files of a project are cited in its chats, in the prompt while they fit and by search when they do not', async () => {
  const folder = temporaryFolder()
  let service = await startService(folder.path)
  try {
    const created = await service.fetch('/user/projects/create?name=Lighthouse', { method: 'POST' })
    const { id: projectId } = await json<{ id: number }>(created)
    const [file] = await upload(service, { 'leave.md': policy }, projectId)
    const info = { chat_session_info: { project_id: projectId } }
    const small = await ask(service, 'How many days of paid leave do keepers get?', info)
    expect(small.answer).toContain('31 days')
    expect(small.citation_info).toEqual([expect.objectContaining({ citation_number: 1, document_id: file!.id })])
    expect(small.top_documents).toEqual([
      expect.objectContaining({ document_id: file!.id, semantic_identifier: 'leave.md', source_type: 'file' }),
    ])

    // Long enough that no prompt holds all of it.
    const chapter = (number: number): string =>
      Array.from({ length: 9_000 }, (_, line) => `Chapter ${number}, verse ${line}: gulls circle over the pier.`).join(
        '\n\n',
      )
    await upload(
      service,
      { 'gulls-1.txt': chapter(1), 'gulls-2.txt': chapter(2), 'gulls-3.txt': chapter(3) },
      projectId,
    )
    await eventually('all files are read', async () => {
      const files = await json<UserFile[]>(await service.fetch(`/user/projects/files/${projectId}`))
      return files.every(({ status }) => status === 'COMPLETED') || undefined
    })
    await service.kill()
    service = await startService(folder.path)
    const results = await eventually('the project is searched', async () => {
      const answer = await ask(service, 'How many days of paid leave do keepers get?', info)
      return answer.answer.includes('31 days') ? answer : undefined
    })
    expect(results.citation_info.map(({ document_id: id }) => id)).toContain(file!.id)
    expect(results.top_documents.every(({ source_type: type }) => type === 'user_file')).toBe(true)

    // Nobody finds them outside of the project.
    const search = await service.fetch('/search', {
      method: 'POST',
      body: JSON.stringify({ query: 'paid leave keepers' }),
    })
    expect(JSON.stringify(await search.json())).not.toContain('31 days')
  } finally {
    await service.stop()
    folder.remove()
  }
})
