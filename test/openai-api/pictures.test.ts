import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { InlayOptions } from 'inlay'
import { expect, onTestFinished, test } from 'vitest'
import { openScripted, type Prompt } from './chat-setting.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** A server of pictures. */
async function startPictures() {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url!)
    if (request.url!.startsWith('/hangs')) return
    if (request.url === '/odd.png')
      return response.writeHead(200, { 'content-type': 'image/png; a="x,y;base64,"' }).end(png)
    if (request.url === '/page.html') return response.writeHead(200, { 'content-type': 'text/html' }).end('<p>No.')
    if (!request.url!.endsWith('.png')) return response.writeHead(404, { 'content-type': 'image/png' }).end(png)
    return response.writeHead(200, { 'content-type': 'image/png' }).end(png)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths }
}

async function openSeeing(options: (origin: string) => Partial<InlayOptions>) {
  const pictures = await startPictures()
  const seen: unknown[] = []
  const script = (call: Prompt) => {
    for (const { role, content } of call.prompt)
      for (const part of role === 'user' ? content : [])
        if (part.type === 'file' && part.data.type === 'data')
          seen.push([part.mediaType, Buffer.from(part.data.data).equals(png)])
    return ['I see it.']
  }
  return { ...pictures, seen, ...(await openScripted(options(pictures.origin), script)) }
}

const allowed = (origin: string) => ({ egress: { allowHosts: [new URL(origin).host] } })
const ask = (url: string) => [
  {
    role: 'user' as const,
    content: [
      { type: 'text' as const, text: 'What is it?' },
      { type: 'image_url' as const, image_url: { url } },
    ],
  },
]

test('a picture of an address is fetched once and shown to the model, by chat completions and responses', async () => {
  const { client, origin, seen, paths } = await openSeeing(allowed)
  const [question] = ask(`${origin}/a.png`)
  await client.chat.completions.create({
    model: 'inlay',
    messages: [question!, { role: 'assistant', content: 'A dot.' }, question!],
  })
  expect(seen).toEqual([
    ['image/png', true],
    ['image/png', true],
  ])
  expect(paths).toEqual(['/a.png'])
  seen.length = 0
  const content = [
    { type: 'input_text' as const, text: 'What is it?' },
    { type: 'input_image' as const, detail: 'auto' as const, image_url: `${origin}/b.png` },
  ]
  await client.responses.create({ model: 'inlay', input: [{ role: 'user', content }] })
  expect(seen).toEqual([['image/png', true]])
})

test('of what a foreign server says about a picture only its type is passed on', async () => {
  const { client, origin, seen } = await openSeeing(allowed)
  await client.chat.completions.create({ model: 'inlay', messages: ask(`${origin}/odd.png`) })
  expect(seen).toEqual([['image/png', true]])
})

test('responses name the input where a picture is not there', async () => {
  const { client, origin } = await openSeeing(allowed)
  const content = [{ type: 'input_image' as const, detail: 'auto' as const, image_url: `${origin}/none` }]
  const response = client.responses.create({ model: 'inlay', input: [{ role: 'user', content }] })
  await expect(response).rejects.toMatchObject({ status: 400, param: 'input' })
})

test('pictures that are fetched count as bodies of their caller do: what does not fit is not fetched', async () => {
  const { client, origin, paths } = await openSeeing(allowed)
  const leaving = new AbortController()
  const send = (name: string) =>
    client.chat.completions
      .create(
        { model: 'inlay', messages: Array.from({ length: 12 }, (_, at) => ask(`${origin}/hangs/${name}${at}`)[0]!) },
        { signal: leaving.signal, maxRetries: 0 },
      )
      .catch((error: unknown) => error)
  const first = send('a')
  await expect.poll(() => paths.length).toBe(12)
  expect(await send('b')).toMatchObject({ status: 429 })
  leaving.abort()
  await first
  expect(paths).toHaveLength(12)
})

test.each([
  ['that is no picture', '/page.html', /kind of content/],
  ['that is not there', '/none', /status 404/],
])('an address %s is told, without an answer', async (_, path, words) => {
  const { client, origin, model } = await openSeeing(allowed)
  const completion = client.chat.completions.create({ model: 'inlay', messages: ask(origin + path) })
  await expect(completion).rejects.toMatchObject({
    status: 400,
    param: 'messages',
    message: expect.stringMatching(words),
  })
  expect(model.requests).toEqual([])
})

test.each<[string, (origin: string) => Partial<InlayOptions>, RegExp]>([
  ['in the own network', () => ({}), /public internet/],
  ['of hosts that pages are not read from', () => ({ pageReader: { onlyHosts: ['example.org'] } }), /operator opened/],
  ['where no pages are read', (origin) => ({ ...allowed(origin), pageReader: null }), /send the data/],
])('an address %s is not asked', async (_, options, words) => {
  const { client, origin, paths } = await openSeeing(options)
  const request = client.chat.completions.create({ model: 'inlay', messages: ask(`${origin}/a.png`) })
  await expect(request).rejects.toMatchObject({ status: 400, message: expect.stringMatching(words) })
  expect(paths).toEqual([])
})

test('more addresses than are fetched at once are refused, before the first one', async () => {
  const { client, origin, paths } = await openSeeing(allowed)
  const messages = Array.from({ length: 21 }, (_, at) => ask(`${origin}/${at}.png`)[0]!)
  await expect(client.chat.completions.create({ model: 'inlay', messages })).rejects.toMatchObject({ status: 400 })
  expect(paths).toEqual([])
})
