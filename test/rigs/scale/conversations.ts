import assert from 'node:assert/strict'
import type { ChatSessionDetail } from '@inlay/protocol'
import { call, resume, send, words, type AnswerStream } from './calls.ts'
import { accepted, insist, Refused, type Installation } from './installation.ts'

/** A conversation as its client holds it. */
export interface Conversation {
  readonly session: string
  /** Milliseconds from each cut of an answer to its end, on another process or rebuilt. */
  readonly recoveries: number[]
}

const turns = 3

/** So many conversations of three turns, ten at a time. */
export async function converse(installation: Installation, count: number): Promise<readonly Conversation[]> {
  const done: Conversation[] = []
  let begun = 0
  const client = async (): Promise<void> => {
    while (begun++ < count) done.push(await talk(installation))
  }
  await Promise.all(Array.from({ length: 10 }, client))
  return done
}

async function talk(installation: Installation): Promise<Conversation> {
  const recoveries: number[] = []
  let session: string | undefined
  for (let turn = 0; turn < turns; turn++) {
    const message = turn === 1 ? 'Please look up archive and say 30 words.' : 'Say 60 words.'
    const body = { message, ...(session !== undefined && { chat_session_id: session }) }
    session = await answer(installation, { body, key: crypto.randomUUID(), recoveries, session })
  }
  return { session: session!, recoveries }
}

interface Turn {
  readonly body: object
  readonly key: string
  readonly recoveries: number[]
  readonly session: string | undefined
}

/** Sends under one key until there is a whole answer. @returns the session */
async function answer(installation: Installation, { body, key, recoveries, session }: Turn): Promise<string> {
  let cutAt: number | undefined
  const known = await insist(installation, 'an answer', async (base) => {
    const stream = await send(base, body, key).catch((error: unknown) => {
      cutAt ??= performance.now()
      throw error
    })
    const isWhole = await stream.ended
    const id = session ?? /"chat_session_id":"([^"]+)"/.exec(stream.lines[0]?.json ?? '')?.[1]
    if (isWhole && !isFailed(stream)) return id
    cutAt ??= performance.now()
    if (!isWhole && id !== undefined) await followElsewhere(installation, stream, id)
    throw new Refused(200, isWhole ? 'the answer ended with SERVICE_UNAVAILABLE' : 'the stream was cut', null)
  })
  if (cutAt !== undefined) recoveries.push(performance.now() - cutAt)
  assert.ok(known !== undefined, 'an answer tells its session')
  return known
}

const isFailed = ({ lines }: AnswerStream): boolean => lines.at(-1)!.json.startsWith('{"error":')

/** The rest of an answer comes from another process, or its end. What a client saw it does not see again. */
async function followElsewhere(installation: Installation, cut: AnswerStream, session: string): Promise<void> {
  const cursor = cut.lines.at(-1)?.id ?? 0
  const rest = await insist(installation, 'the rest of an answer', async (base) => {
    const stream = await resume(base, session, cursor)
    if (!(await stream.ended)) throw new Refused(200, 'the resumed stream was cut', null)
    return stream
  })
  for (const { id } of rest.lines) assert.ok(id > cursor, 'only new lines are sent again')
}

/** Every run has ended, each question is there once, and each answer is whole. */
export async function checkConversations(installation: Installation, all: readonly Conversation[]): Promise<void> {
  for (const { session } of all) {
    const detail = await insist(installation, 'a session', async (base) => {
      const response = await accepted(await call(base, `/chat/get-chat-session/${session}`))
      return (await response.json()) as ChatSessionDetail
    })
    assert.equal(detail.current_run, null, 'no answer is running')
    const roles = detail.messages.map(({ message_type: role }) => role)
    assert.equal(roles.filter((role) => role === 'user').length, turns, `questions of ${session}`)
    const answers = detail.messages.filter(({ message_type: role }) => role === 'assistant')
    const whole = answers.filter(({ error }) => error === null).map(({ message }) => message)
    assert.deepEqual(whole.toSorted(), [words(30), words(60), words(60)].toSorted(), `answers of ${session}`)
  }
}
