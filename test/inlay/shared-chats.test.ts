import type { ChatSessionDetail } from '@inlay/protocol'
import type { Inlay } from 'inlay'
import { createTestInlay, type TestAnswer } from 'inlay/testing'
import { expect, onTestFinished, test } from 'vitest'

/** A question is searched for, and its answer cites both documents. */
const salaries: TestAnswer = [
  [{ call: { name: 'internal_search', input: { queries: ['salary grade'] } } }],
  'Salaries are paid on the 25th [1]. Grade seven earns 5,100 [2].',
]

interface Shared {
  readonly inlay: Inlay
  readonly session: string
  /** Asks as somebody; gives status and body. */
  ask(caller: string, method: string, path: string, body?: object): Promise<{ status: number; body: unknown }>
  /** The session as a reader of the link gets it. */
  read(caller: string, more?: string): Promise<{ status: number; body: unknown }>
}

/** Alice has a chat about a document that only she may see and one that everybody may see. */
async function newSharedChat(answers: readonly TestAnswer[] = [salaries]): Promise<Shared> {
  const inlay = await createTestInlay({
    answers,
    sessionNames: 'question',
    authenticate: (request) => {
      const id = /^Bearer (alice|bob|operator)$/.exec(request.headers.get('authorization') ?? '')?.[1]
      return id === undefined ? undefined : { id, scopes: id === 'operator' ? ['admin'] : ['chat'] }
    },
  })
  onTestFinished(() => inlay.close())
  const ask: Shared['ask'] = async (caller, method, path, body) => {
    const init = body === undefined ? {} : { body: JSON.stringify(body) }
    const headers = { authorization: `Bearer ${caller}`, prefer: 'wait=60' }
    const response = await inlay.fetch(new Request(`http://host.example/api${path}`, { method, headers, ...init }))
    const text = await response.text()
    return { status: response.status, body: text.startsWith('{') || text === 'null' ? JSON.parse(text) : text }
  }
  const pair = { name: 'Payroll', access_type: 'private', users: ['alice'] }
  const { body } = await ask('operator', 'POST', '/manage/admin/cc-pair', pair)
  const { id } = body as { id: number }
  expect(id).toBeGreaterThan(1)
  const ingest = async (document: object, cc_pair_id: number): Promise<void> => {
    const given = { document: { metadata: {}, ...document }, cc_pair_id }
    expect(await ask('operator', 'POST', '/service-api/ingestion', given)).toMatchObject({ status: 200 })
  }
  const secret = {
    text: 'Salary grade seven earns 5,100 a month, says the payroll.',
    link: 'https://hr.example/pay(7)',
  }
  await ingest({ id: 'payroll', semantic_identifier: 'Payroll secrets', sections: [secret] }, id)
  const open = { text: 'The salary of each grade is paid on the 25th.', link: 'https://wiki.example/pay' }
  await ingest({ id: 'handbook', semantic_identifier: 'Handbook', sections: [open] }, 1)
  const sent = await ask('alice', 'POST', '/chat/send-chat-message', { message: 'Who earns what?', stream: false })
  const { chat_session_id: session } = sent.body as { chat_session_id: string }
  const path = `/chat/get-chat-session/${session}?is_shared=true`
  return { inlay, session, ask, read: (caller, more = '') => ask(caller, 'GET', path + more) }
}

const share = ({ ask, session }: Shared, status: 'public' | 'private'): ReturnType<Shared['ask']> =>
  ask('alice', 'PATCH', `/chat/chat-session/${session}`, { sharing_status: status })

test('a reader gets passages, titles and addresses of those sources only that they may see', async () => {
  const chat = await newSharedChat()
  const own = await chat.ask('alice', 'GET', `/chat/get-chat-session/${chat.session}`)
  expect(JSON.stringify(own.body)).toContain('says the payroll')
  await share(chat, 'public')
  const { status, body } = await chat.read('bob')
  expect(status).toBe(200)
  const text = JSON.stringify(body)
  expect(text).not.toMatch(/salary grade|says the payroll|Payroll secrets|hr\.example/)
  expect(text).toContain('https://wiki.example/pay')
  const { messages, packets } = body as ChatSessionDetail
  const [, question, answer] = messages
  expect(question?.message).toBe('Who earns what?')
  expect(answer?.message).toBe(
    'Salaries are paid on the 25th [[1]](https://wiki.example/pay). Grade seven earns 5,100 [[2]]().',
  )
  expect(answer?.context_docs?.map(({ document_id: id }) => id)).toEqual(['handbook'])
  expect(Object.values(answer?.citations ?? {})).toEqual(['handbook'])
  // That documents were searched, and which of them the reader may see; not for what.
  expect(packets[0]?.map(({ obj }) => obj.type)).toEqual([
    'search_tool_start',
    'search_tool_documents_delta',
    'section_end',
    'message_start',
    'message_delta',
    'citation_info',
    'message_delta',
    'message_delta',
    'stop',
  ])
  // The owner previews it by the same address, with the documents that the owner may see.
  expect(JSON.stringify((await chat.read('alice')).body)).toContain('says the payroll')
  // A document that is deleted leaves the shared view.
  await chat.ask('operator', 'DELETE', '/service-api/ingestion/handbook')
  expect(JSON.stringify((await chat.read('bob')).body)).not.toContain('wiki.example')
})

test('sharing ends at once: when it is taken back, when the chat is hidden, when it is erased', async () => {
  const chat = await newSharedChat()
  const unknown = await chat.ask('bob', 'GET', `/chat/get-chat-session/${crypto.randomUUID()}?is_shared=true`)
  expect(unknown.status).toBe(404)
  expect(await chat.read('bob')).toEqual(unknown)
  await share(chat, 'public')
  expect((await chat.read('bob')).status).toBe(200)
  await share(chat, 'private')
  expect(await chat.read('bob')).toEqual(unknown)
  await share(chat, 'public')
  await chat.ask('alice', 'DELETE', `/chat/delete-chat-session/${chat.session}`)
  expect(await chat.read('bob')).toEqual(unknown)
  // A hidden chat is still on disk: no other query brings it back to others.
  expect(await chat.read('bob', '&include_deleted=true')).toEqual(unknown)
})

test('an erased chat is nobody’s', async () => {
  const chat = await newSharedChat()
  await share(chat, 'public')
  await chat.ask('alice', 'DELETE', `/chat/delete-chat-session/${chat.session}?hard_delete=true`)
  expect((await chat.read('bob', '&include_deleted=true')).status).toBe(404)
  expect((await chat.read('alice', '&include_deleted=true')).status).toBe(404)
})

test('a reader changes nothing, gets no file, no other branch and nothing of what the owner thought', async () => {
  const again = [['The second answer.'], ['The third answer.']]
  const chat = await newSharedChat([[[{ reasoning: 'A secret thought.' }, 'The first answer.']], ...again])
  const form = new FormData()
  form.append('files', new File(['secret words'], 'secret.txt', { type: 'text/plain' }))
  const headers = { authorization: 'Bearer alice' }
  const request = new Request('http://host.example/api/user/projects/file/upload', {
    method: 'POST',
    headers,
    body: form,
  })
  const { user_files: files } = (await (await chat.inlay.fetch(request)).json()) as {
    user_files: { file_id: string }[]
  }
  const file = files[0]!.file_id
  const whole = { stream: false, chat_session_id: chat.session }
  const [, , first] = (
    (await chat.ask('alice', 'GET', `/chat/get-chat-session/${chat.session}`)).body as ChatSessionDetail
  ).messages
  const like = { chat_message_id: first?.message_id, is_positive: false, feedback_text: 'secret opinion' }
  await chat.ask('alice', 'POST', '/chat/create-chat-message-feedback', like)
  const more = { message: 'And this secret file?', file_descriptors: [{ id: file }], ...whole }
  await chat.ask('alice', 'POST', '/chat/send-chat-message', more)
  // The question is put again in other words: what was asked first is on another branch now.
  const other = {
    message: 'And this?',
    file_descriptors: [{ id: file }],
    parent_message_id: first?.message_id,
    ...whole,
  }
  await chat.ask('alice', 'POST', '/chat/send-chat-message', other)
  await share(chat, 'public')
  const { body } = await chat.read('bob')
  expect((body as ChatSessionDetail).messages.map(({ message }) => message)).toEqual([
    '',
    'Who earns what?',
    'The first answer.',
    'And this?',
    'The third answer.',
  ])
  expect(JSON.stringify(body)).not.toMatch(/secret thought|secret opinion|secret words|And this secret/)
  expect((body as ChatSessionDetail).messages.map(({ current_feedback: feedback }) => feedback)).toEqual(
    Array(5).fill(null),
  )
  const attacks: readonly (readonly [method: string, path: string, body?: object])[] = [
    ['GET', `/chat/file/${file}`],
    ['GET', `/user/projects/file/${file}`],
    ['GET', `/chat/get-chat-session/${chat.session}`],
    ['GET', `/chat/chat-session/${chat.session}/resume-stream`],
    ['POST', `/chat/stop-chat-session/${chat.session}`],
    ['PATCH', `/chat/chat-session/${chat.session}`, { sharing_status: 'private' }],
    ['DELETE', `/chat/delete-chat-session/${chat.session}`],
    ['PUT', '/chat/rename-chat-session', { chat_session_id: chat.session, name: 'Mine' }],
    ['POST', '/chat/send-chat-message', { message: 'Hi', ...whole }],
    ['PUT', '/chat/set-message-as-latest', { message_id: first?.message_id }],
    ['POST', '/chat/create-chat-message-feedback', like],
  ]
  for (const [method, path, given] of attacks)
    expect((await chat.ask('bob', method, path, given)).status, path).toBeGreaterThanOrEqual(400)
  expect((await chat.read('bob')).body).toEqual(body)
  // Without a key there is nothing to read.
  expect((await chat.read('mallory')).status).toBe(401)
})
