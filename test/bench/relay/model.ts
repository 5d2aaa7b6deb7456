/** A model for chat completions that sends as many tokens as its name says, such as `600x40` (600, 40 ms apart). */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const head = '"id":"c","object":"chat.completion.chunk","created":1700000000,"model":"m"'
const chunk = (delta: object, end: string | null = null): string =>
  `data: {${head},"choices":[{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":${JSON.stringify(end)}}]}\n\n`
const token = chunk({ content: 'tok ' })
const usage = '"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}'
const tail = `${chunk({}, 'stop')}data: {${head},${usage}}\n\ndata: [DONE]\n\n`

/** To those that want it in one piece: how Inlay asks for the name of a new conversation. */
const whole = `{"id":"c","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"A name"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}`

async function bodyOf(request: IncomingMessage): Promise<{ readonly model: string; readonly stream?: boolean }> {
  let text = ''
  request.setEncoding('utf8')
  for await (const piece of request) text += piece
  return JSON.parse(text)
}

/** Each stream has its own schedule; a late token does not delay the next ones. */
function sayPaced(response: ServerResponse, tokens: number, delayMs: number): void {
  const begun = performance.now()
  let said = 0
  const next = (): void => {
    if (response.destroyed) return
    if (said === tokens) return void response.end(tail)
    response.write(token)
    said++
    setTimeout(next, Math.max(0, begun + said * delayMs - performance.now()))
  }
  next()
}

/** One write per token, as fast as the reader accepts them. */
function sayAtOnce(response: ServerResponse, tokens: number): void {
  let said = 0
  const next = (): void => {
    while (said < tokens) {
      said++
      if (!response.write(token)) return void response.once('drain', next)
    }
    response.end(tail)
  }
  next()
}

const server = createServer((request, response) => {
  // Other requests to a server (its model, the length of its window) are not answered here.
  if (request.method !== 'POST') return void response.writeHead(404).end()
  void bodyOf(request).then(({ model, stream }) => {
    if (!stream) return void response.writeHead(200, { 'content-type': 'application/json' }).end(whole)
    const [tokens = 0, delayMs = 0] = model.split('x').map(Number)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chunk({ role: 'assistant', content: '' }))
    if (delayMs > 0) sayPaced(response, tokens, delayMs)
    else sayAtOnce(response, tokens)
  })
})
server.keepAliveTimeout = 600_000
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit())
