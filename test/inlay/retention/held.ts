import { createInlay, type Inlay, type InlayOptions, type Principal } from 'inlay'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../../life/process.ts'

export const dayMs = 86_400_000
export const people = { ann: 'ann@zebulon.example', bob: 'bob@quillon.example', admin: 'admin' } as const
export type Person = keyof typeof people

export interface HeldSetting {
  readonly folder: string
  readonly clock: { time: number }
  open(options?: InlayOptions): HeldInlay
}

export interface HeldInlay {
  readonly inlay: Inlay
  call<Body>(person: Person, method: string, path: string, body?: object): Promise<{ status: number; body: Body }>
}

/** An installation whose callers name themselves, at a time that the test moves. */
export function newHeldSetting(options: InlayOptions = {}): HeldSetting {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  const clock = { time: Date.UTC(2026, 0, 12) }
  return {
    folder: folder.path,
    clock,
    open: (more) => {
      const inlay = createInlay({
        dataFolder: folder.path,
        now: () => clock.time,
        authenticate: (request): Principal | undefined => {
          const person = request.headers.get('x-person') as Person | null
          return person === null ? undefined : { id: people[person], scopes: person === 'admin' ? ['admin'] : ['chat'] }
        },
        onError: () => {},
        ...options,
        ...more,
      })
      onTestFinished(() => inlay.close())
      return {
        inlay,
        call: async (person, method, path, body) => {
          const isForm = body instanceof FormData
          const sent = new Request(`http://host.example/api${path}`, {
            method,
            headers: { 'x-person': person, ...(isForm ? {} : { 'content-type': 'application/json' }) },
            ...(body && { body: isForm ? body : JSON.stringify(body) }),
          })
          const response = await inlay.fetch(sent)
          return { status: response.status, body: (await response.json().catch(() => null)) as never }
        },
      }
    },
  }
}

export interface Traces {
  readonly sessionId: string
  readonly messageId: number
  readonly projectId: number
  readonly memoryId: number
  readonly personaId: number
  readonly promptId: number
  readonly fileId: string
}

/** Leaves something of every kind, each with a word of the person's own. */
export async function leaveTraces({ inlay, call }: HeldInlay, person: Person, fileName?: string): Promise<Traces> {
  const word = `${person}sword`
  type Row = Record<string, never>
  const request = async (method: string, path: string, body?: object): Promise<Row> => {
    const answer = await call<Row>(person, method, path, body)
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const form = new FormData()
  form.append('files', new Blob([`My ${word} is here.`]), fileName ?? `${word}.txt`)
  const upload = (await request('POST', '/user/projects/file/upload', form)) as unknown as {
    user_files: { id: string; file_id: string }[]
  }
  const [file] = upload.user_files
  const project = await request('POST', `/user/projects/create?name=${word}`)
  const answer = await request('POST', '/chat/send-chat-message', {
    message: `What of ${word}?`,
    stream: false,
    file_descriptors: [{ id: file!.file_id, type: 'plain_text', name: 'a.txt' }],
  })
  const feedback = { chat_message_id: answer['message_id'], is_positive: true, feedback_text: word }
  await request('POST', '/chat/create-chat-message-feedback', feedback)
  const memory = await request('POST', '/user/memories', { content: word })
  await request('PATCH', '/user/personalization', { name: word })
  const persona = { name: word, description: '', document_set_ids: [], tool_ids: [], system_prompt: word }
  const agent = await request('POST', '/persona', { ...persona, task_prompt: '', datetime_aware: true })
  const prompt = await request('POST', '/input_prompt', { prompt: word, content: word, is_public: false })
  await inlay.keys.create({ name: word, scopes: ['chat'], owner: people[person] })
  return {
    sessionId: String(answer['chat_session_id']),
    messageId: Number(answer['message_id']),
    projectId: Number(project['id']),
    memoryId: Number(memory['id']),
    personaId: Number(agent['id']),
    promptId: Number(prompt['id']),
    fileId: file!.id,
  }
}
