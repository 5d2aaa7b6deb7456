import type { HostAgent, ResponderPart, ResponderTurn } from 'inlay/agent'

async function* respond({ prompt, tools, signal }: ResponderTurn): AsyncGenerator<ResponderPart> {
  signal.throwIfAborted()
  const content = prompt.at(-1)?.content ?? ''
  const message =
    typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  yield { type: 'step' }
  const [, town] = /^Weather in (\w+)/.exec(message) ?? []
  if (town) {
    yield { type: 'call', callId: 'weather-1', name: 'weather', input: { town } }
    yield { type: 'result', callId: 'weather-1', text: 'rain' }
    yield { type: 'text', delta: `There is rain in ${town}.` }
    return
  }
  const search = tools.find(({ name }) => name === 'internal_search')
  const results = await search?.run('search-1', { queries: [message] })
  yield { type: 'text', delta: results ?? 'I know the weather of each town.' }
}

export const weatherAgent: HostAgent = { name: 'Weather', actions: ['internal_search'], respond }

import { hostAgentConformance } from 'inlay/conformance'

const agentTests = hostAgentConformance(() => ({
  agent: weatherAgent,
  answers: [
    { message: 'Weather in Oslo', word: 'Oslo' },
    { message: 'Weather in Rome', word: 'Rome' },
  ],
  calls: 'Weather in Oslo',
  searches: { message: 'How much leave do we get?', action: 'internal_search' },
}))
for (const [title, run] of agentTests) test(title, run)

import { createServer, type Server } from 'node:http'
import { json } from 'node:stream/consumers'
import type { CodeFile, CodeRunner } from 'inlay/agent'

const encode = (files: readonly CodeFile[]) =>
  files.map(({ name, bytes }) => ({ name, bytes: Buffer.from(bytes).toString('base64') }))
const decode = (files: ReturnType<typeof encode>): CodeFile[] =>
  files.map(({ name, bytes }) => ({ name, bytes: Buffer.from(bytes, 'base64') }))

export const serviceOf = (runner: CodeRunner): Server =>
  createServer(async (request, response) => {
    const left = new AbortController()
    response.on('close', () => left.abort())
    const send = (line: object) => void response.write(`${JSON.stringify(line)}\n`)
    try {
      const { files, ...run } = (await json(request)) as { code: string; files: ReturnType<typeof encode> }
      const onOutput = (output: object) => send({ output })
      const outcome = await runner.run({ ...run, files: decode(files), signal: left.signal, onOutput })
      send({ outcome: { ...outcome, files: encode(outcome.files) } })
    } catch (error) {
      send({ failure: String(error) })
    }
    response.end()
  })

import { InlayError } from 'inlay'

export const remoteRunner = (url: string): CodeRunner => ({
  async run({ files = [], signal, onOutput, ...run }) {
    const body = JSON.stringify({ ...run, files: encode(files) })
    const response = await fetch(url, { method: 'POST', body, ...(signal && { signal }) })
    let rest = ''
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const { output, outcome } of lines.map((line) => JSON.parse(line))) {
        if (output) onOutput?.(output)
        if (outcome) return { ...outcome, files: decode(outcome.files) }
      }
    }
    throw new InlayError('SERVICE_UNAVAILABLE', { message: 'The runner of programs did not answer.' })
  },
})

import { codeRunnerConformance } from 'inlay/conformance'
import { pyodide } from 'inlay/drivers'

const python = pyodide()
const service = serviceOf(python).listen(0, '127.0.0.1')
const addressOf = (address: ReturnType<Server['address']>) =>
  `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`

for (const [title, run] of codeRunnerConformance(() => remoteRunner(addressOf(service.address())))) test(title, run)
test('the service ends', async () => {
  service.close()
  await python.close()
})
