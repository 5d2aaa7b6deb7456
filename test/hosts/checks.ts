import assert from 'node:assert/strict'
import { request as nodeRequest } from 'node:http'
import { until } from '../package/installation.ts'
import { call, heldAnswer, json, key, post, withinSeconds, type Site } from './site.ts'

const documentId = 'handbook/ä b'
const encodedId = encodeURIComponent(documentId)
const text = `Full-time staff get 25 days of paid leave a year.\n\n${'The canteen opens at noon. '.repeat(15_000)}`
const documentOf = (id: string, words: string): object => ({
  document: { id, semantic_identifier: `About ${id}`, source: 'web', metadata: {}, sections: [{ text: words }] },
})

async function health(site: Site): Promise<void> {
  assert.equal((await json(await fetch(`${site.origin}/assistant/health`)))['success'], true)
}

async function ownRoutes(site: Site): Promise<void> {
  assert.equal(await (await fetch(`${site.origin}/own`)).text(), 'own page')
  const headers = { 'content-type': 'application/json' }
  const posted = await fetch(`${site.origin}/own`, { method: 'POST', headers, body: '{"name":"Zoe"}' })
  assert.equal(await posted.text(), 'hello Zoe')
  const missing = await fetch(`${site.origin}/nothing-here`)
  assert.equal((await missing.text()).includes('"error_code"'), false, 'Inlay answers for a path of the host')
}

async function largeDocument(site: Site): Promise<void> {
  const headers = { prefer: 'wait=30' }
  const accepted = await post(site, '/service-api/ingestion', documentOf(documentId, text), { headers })
  assert.equal((await json(accepted))['document_id'], documentId)
}

async function state(site: Site): Promise<void> {
  const stored = await json(await call(site, `/service-api/ingestion/${encodedId}`))
  assert.deepEqual([stored['document_id'], stored['state']], [documentId, 'indexed'])
}

async function wholeAnswer(site: Site): Promise<void> {
  const message = { message: 'How many days of paid leave?', stream: false }
  const answer = await json<{ answer: string; citation_info: { document_id: string }[] }>(
    await post(site, '/chat/send-chat-message', message),
  )
  assert.match(answer.answer, /25 days/)
  assert.equal(answer.citation_info[0]?.document_id, documentId)
}

/** The rest of the answer comes only once its beginning was seen. */
async function stream(site: Site): Promise<void> {
  const answer = await heldAnswer(site, 'stream')
  assert.equal(answer.response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  site.model.release('stream')
  assert.match(await answer.read(), /"two[^]*"type":"stop"/)
}

async function leaveAndStop(site: Site): Promise<void> {
  const answer = await heldAnswer(site, 'leave')
  const before = site.model.abandoned()
  answer.leave()
  const resumed = await call(site, `/chat/chat-session/${answer.sessionId}/resume-stream?cursor=0`)
  const reader = resumed.body?.pipeThrough(new TextDecoderStream()).getReader()
  let seen = ''
  while (!seen.includes('"one')) seen += (await reader?.read())?.value ?? assert.fail(`no run to resume: ${seen}`)
  assert.equal(site.model.abandoned(), before, 'the run ended with its client')
  await json(await post(site, `/chat/stop-chat-session/${answer.sessionId}`, {}))
  for (let step = await reader?.read(); step?.done === false; step = await reader?.read()) seen += step.value
  assert.match(seen, /"type":"stop"[^]*user_cancelled/)
  await until('the end of the model call', async () => site.model.abandoned() > before || undefined)
}

async function errors(site: Site): Promise<void> {
  const invalid = await json<{ detail: { loc: string[] }[] }>(await post(site, '/chat/send-chat-message', {}), 422)
  assert.deepEqual(invalid.detail[0]?.loc, ['body', 'message'])
  assert.equal((await json(await call(site, '/no/such/thing'), 404))['error_code'], 'NOT_FOUND')
  assert.equal((await json(await call(site, '/me', { method: 'DELETE' }), 405))['error_code'], 'METHOD_NOT_ALLOWED')
  const headers = { authorization: 'Bearer wrong' }
  const unknown = await fetch(`${site.origin}/assistant/me`, { headers })
  assert.match(unknown.headers.get('www-authenticate') ?? '', /Bearer/)
  assert.equal((await json(unknown, 401))['error_code'], 'INVALID_TOKEN')
}

async function signIn(site: Site): Promise<void> {
  const me = await json(await call(site, '/me', { headers: { cookie: 'session=zoe' } }))
  const other = await json(await call(site, '/me', { headers: { cookie: 'session=max' } }))
  assert.notEqual(me['id'], other['id'])
  assert.equal(me['is_superuser'], false)
  await json(await fetch(`${site.origin}/assistant/me`), 401)
}

async function uploads(site: Site): Promise<void> {
  const csv = `day,hours\n${'Mon,8\n'.repeat(300_000)}`
  // Headers of a program, and of a page of the host.
  const senders: Record<string, string>[] = [{}, { origin: site.origin, cookie: 'session=zoe' }]
  for (const headers of senders) {
    const form = new FormData()
    form.set('files', new File([csv], 'hours.csv', { type: 'text/csv' }))
    const sent = await call(site, '/user/projects/file/upload', { method: 'POST', headers, body: form })
    const { user_files: files } = await json<{ user_files: { file_id: string }[] }>(sent)
    const bytes = await (await call(site, `/chat/file/${files[0]?.file_id}`, { headers })).text()
    assert.equal(bytes.length, csv.length)
  }
  const form = new FormData()
  form.set('file', new File(['<h1>Parking</h1><p>Visitors park in lot B.</p>'], 'parking.html', { type: 'text/html' }))
  const ingested = await call(site, '/service-api/ingestion/file', { method: 'POST', body: form })
  assert.equal(typeof (await json(ingested))['document_id'], 'string')
}

async function batch(site: Site): Promise<void> {
  const ids = Array.from({ length: 100 }, (_, index) => `batch-${index}`)
  const lines = ids.map((id) => `${JSON.stringify(documentOf(id, 'text '.repeat(2000)))}\n`)
  const request = nodeRequest(`${site.origin}/assistant/service-api/ingestion/batch`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
  })
  let received = ''
  const ended = new Promise<void>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => {
      response.setEncoding('utf8').on('data', (piece: string) => (received += piece))
      response.on('end', resolve)
    })
  })
  request.write(lines[0])
  await until('an answer to the first line', async () => received.includes('\n') || undefined)
  for (const line of lines.slice(1)) request.write(line)
  request.end()
  await withinSeconds(120, 'end of the batch', ended)
  const answers = received.trim().split('\n')
  assert.deepEqual(
    answers.map((line) => (JSON.parse(line) as { document_id: string }).document_id),
    ids,
  )
}

async function shutdown(site: Site): Promise<void> {
  const answer = await heldAnswer(site, 'shutdown')
  const rest = answer.read()
  await site.serving.end()
  if (site.serving.isKilled()) throw new Error('it had to be killed')
  assert.match(await rest, /"error_code":"|"type":"stop"/)
  await site.restart()
  const session = await json<{ messages: { message: string }[] }>(
    await call(site, `/chat/get-chat-session/${answer.sessionId}`),
  )
  assert.match(session.messages.at(-1)?.message ?? '', /^one/)
}

/** The checks of each host, in the order of the table. */
export const checks: readonly (readonly [title: string, check: (site: Site) => Promise<void>])[] = [
  ['health', health],
  ['own routes', ownRoutes],
  ['400 kB document', largeDocument],
  ['its state', state],
  ['whole answer', wholeAnswer],
  ['stream', stream],
  ['leave and stop', leaveAndStop],
  ['errors', errors],
  ['sign-in', signIn],
  ['uploads', uploads],
  ['NDJSON batch', batch],
  ['SIGTERM', shutdown],
]
