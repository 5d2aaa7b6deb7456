import { createFold } from '@inlay/protocol'
import type { ChatSessionDetail, Packet, PacketBody, PacketOf, PacketType, StreamLine } from '@inlay/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { orderFaults } from '../../agent/packet-order.ts'
import { startImages } from '../../stand-in/images.ts'
import { startSearch, type SearchStandIn } from '../../stand-in/web-search.ts'
import { startSite, type SitePage, type WebSite } from '../../stand-in/web-site.ts'
import { calls, openActionHarness, says } from './action-harness.ts'

const packets = (lines: readonly StreamLine[]): PacketBody[] =>
  lines.filter((line): line is Packet => 'obj' in line).map(({ obj }) => obj)

function packetOf<Type extends PacketType>(lines: readonly StreamLine[], type: Type): PacketOf<Type> {
  const match = packets(lines).find((packet) => packet.type === type)
  if (!match) throw new Error(`There is no ${type}.`)
  // Its type says which packet it is.
  return match as PacketOf<Type>
}

/** Types in order, of pieces of text in a row one. */
function typesOf(lines: readonly StreamLine[]): PacketType[] {
  const types = packets(lines).map(({ type }) => type)
  return types.filter((type, at) => type !== 'message_delta' || types[at - 1] !== type)
}

const textOf = (lines: readonly StreamLine[]): string =>
  packets(lines)
    .map((packet) => (packet.type === 'message_delta' ? packet.content : ''))
    .join('')

async function siteWith(pages: Readonly<Record<string, SitePage>>): Promise<WebSite> {
  const site = await startSite(pages)
  onTestFinished(() => site.close())
  return site
}

async function searchThatFinds(url: string): Promise<SearchStandIn> {
  const pages = [{ title: 'Opening hours', url, snippet: 'When the reserve is open.' }]
  const search = await startSearch('searxng', { pages, mood: 'well' })
  onTestFinished(() => search.close())
  return search
}

const page = `<html><head><title>Opening hours</title></head><body><main><h1>Opening hours</h1>
<p>The heron reserve opens at six.</p></main></body></html>`

test('a chat searches the web, opens what it found and cites it', async () => {
  const site = await siteWith({ '/hours': { body: page } })
  const url = `${site.origin}/hours`
  const search = await searchThatFinds(url)
  const harness = await openActionHarness({
    webSearch: { service: 'searxng', baseUrl: search.baseUrl },
    egress: { allowHosts: [site.host] },
  })
  const lines = await harness.ask('When does the heron reserve open?', [
    calls(['web_search', { queries: ['heron reserve opening hours', 'heron reserve'] }]),
    calls(['open_url', { urls: [url] }]),
    says('It opens at six [1].'),
  ])

  expect(orderFaults(lines)).toEqual([])
  expect(search.queries.toSorted()).toEqual(['heron reserve', 'heron reserve opening hours'])
  expect(site.seen).toEqual(['/hours'])
  expect(typesOf(lines)).toEqual([
    'search_tool_start',
    'search_tool_queries_delta',
    'search_tool_documents_delta',
    'section_end',
    'open_url_start',
    'open_url_urls',
    'open_url_documents',
    'section_end',
    'message_start',
    'message_delta',
    'citation_info',
    'message_delta',
    'stop',
  ])
  expect(packetOf(lines, 'open_url_documents').documents).toMatchObject([
    { document_id: `WEB_SEARCH_DOC_${url}`, semantic_identifier: 'Opening hours', link: url, is_internet: true },
  ])
  expect(packetOf(lines, 'citation_info')).toMatchObject({ citation_number: 1, document_id: `WEB_SEARCH_DOC_${url}` })
  expect(textOf(lines)).toBe(`It opens at six [[1]](${url}).`)
  expect(JSON.stringify(harness.requests().at(-1)?.body)).toContain('The heron reserve opens at six.')
  expect(harness.errors).toEqual([])
})

test('the built-in model opens the address in a question and quotes its page, without a key', async () => {
  const site = await siteWith({ '/hours': { body: page } })
  const harness = await openActionHarness({ model: 'extractive', egress: { allowHosts: [site.host] } })
  const url = `${site.origin}/hours`
  const lines = await harness.ask(`When does the heron reserve open? See ${url}.`, [])
  expect(orderFaults(lines)).toEqual([])
  expect(textOf(lines)).toContain(`The heron reserve opens at six [[1]](${url}).`)
  expect(packetOf(lines, 'citation_info')).toMatchObject({ document_id: `WEB_SEARCH_DOC_${url}` })
})

test('an address that is not public is refused, directly and behind a redirect, and the run goes on', async () => {
  const inner = await siteWith({ '/': { body: '<p>inner secret</p>' } })
  const outer = await siteWith({ '/': { status: 302, headers: { location: `${inner.origin}/` } } })
  const harness = await openActionHarness({ egress: { allowHosts: [outer.host] } })
  const lines = await harness.ask('What do these say?', [
    calls(['open_url', { urls: [inner.origin, outer.origin, 'http://169.254.169.254/latest/meta-data/'] }]),
    says('Neither can be opened.'),
  ])
  expect(orderFaults(lines)).toEqual([])
  expect(typesOf(lines)).toEqual([
    'open_url_start',
    'open_url_urls',
    'section_end',
    'message_start',
    'message_delta',
    'stop',
  ])
  expect(inner.seen).toEqual([])
  expect(outer.seen).toEqual(['/'])
  const received = JSON.stringify(harness.requests().at(-1)?.body)
  expect(received).toContain('not on the public internet')
  expect(received).not.toContain('inner secret')
})

test('a page that answers 404 sends no error; the model and the stored answer are told the reason', async () => {
  const site = await siteWith({})
  const harness = await openActionHarness({ egress: { allowHosts: [site.host] } })
  const url = `${site.origin}/gone`
  const lines = await harness.ask('What does the page say?', [
    calls(['open_url', { urls: [url] }]),
    says('It is gone.'),
  ])
  expect(orderFaults(lines)).toEqual([])
  expect(typesOf(lines)).not.toContain('error')
  expect(textOf(lines)).toBe('It is gone.')
  const request = JSON.stringify(harness.requests().at(-1)?.body)
  expect(request).toContain(`Tool failed with error: None of the addresses could be read`)
  const session = lines.find((line) => 'chat_session_id' in line)?.chat_session_id
  const stored = (await (await harness.fetch(`/chat/get-chat-session/${session}`)).json()) as ChatSessionDetail
  expect(stored.messages.at(-1)).toMatchObject({ message: 'It is gone.', error: null })
  expect(stored.messages.at(-1)?.failed_calls).toEqual([
    {
      turn_index: 0,
      tab_index: 0,
      sub_turn_index: null,
      tool_name: 'open_url',
      reason: expect.stringContaining('no page at this address'),
    },
  ])
  // Fed with both, a fold shows the step as failed.
  const fold = createFold()
  for (const line of lines) fold.add(line)
  expect(fold.state.blocks[0]).toMatchObject({ kind: 'tool', progress: 'done', failure: null })
  fold.addFailures(stored.messages.at(-1)?.failed_calls ?? [])
  expect(fold.state.blocks[0]).toMatchObject({
    progress: 'failed',
    failure: { exception: expect.stringContaining('no page at this address') },
  })
})

test('the address of an indexed document is answered from the index, for those who may see it', async () => {
  const harness = await openActionHarness()
  const link = 'https://wiki.example/handbook'
  const document = { semantic_identifier: 'Handbook', sections: [{ text: 'Herons are counted in May.', link }] }
  const accepted = await harness.fetch('/service-api/ingestion', {
    method: 'POST',
    headers: { 'content-type': 'application/json', prefer: 'wait=60' },
    body: JSON.stringify({ document: { id: 'handbook', metadata: {}, ...document } }),
  })
  expect(accepted.status).toBe(200)
  const lines = await harness.ask('When are herons counted?', [
    calls(['open_url', { urls: [link] }]),
    says('In May [1].'),
  ])
  expect(packetOf(lines, 'open_url_documents').documents).toMatchObject([
    { document_id: 'handbook', semantic_identifier: 'Handbook', is_internet: false },
  ])
  expect(packetOf(lines, 'citation_info')).toMatchObject({ document_id: 'handbook' })
  expect(JSON.stringify(harness.requests().at(-1)?.body)).toContain('Herons are counted in May.')
})

test('a picture is drawn, shown, kept, and fetched by its path', async () => {
  const png = Uint8Array.from(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))
  const images = await startImages({ png, apiKey: 'k', asUrl: true, revisedPrompt: 'a grey heron' })
  onTestFinished(() => images.close())
  const harness = await openActionHarness({
    imageGenerator: { name: 'draw-1', baseUrl: images.baseUrl, apiKey: 'k' },
  })
  const lines = await harness.ask('Draw a heron', [
    calls(['generate_image', { prompt: 'a heron', shape: 'portrait' }]),
    says('Here is a grey heron.'),
  ])
  expect(orderFaults(lines)).toEqual([])
  expect(typesOf(lines)).toEqual([
    'image_generation_start',
    'image_generation_heartbeat',
    'image_generation_final',
    'section_end',
    'message_start',
    'message_delta',
    'stop',
  ])
  const [image] = packetOf(lines, 'image_generation_final').images
  expect(image).toMatchObject({ revised_prompt: 'a grey heron', shape: 'portrait' })
  expect(image?.url).toBe(`/api/chat/file/${image?.file_id}`)
  const served = await harness.fetch(`/chat/file/${image?.file_id}`)
  expect([served.status, served.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect([...(await served.bytes())]).toEqual([...png])
  expect(images.seen).toMatchObject([{ values: { size: '1024x1536' } }])
  // Shown again, it is there without the waiting.
  const head = lines.find((line) => 'chat_session_id' in line)
  const stored = await harness.fetch(
    `/chat/get-chat-session/${head && 'chat_session_id' in head ? head.chat_session_id : ''}`,
  )
  const { packets: replayed } = (await stored.json()) as { packets: Packet[][] }
  expect(replayed.flat().map(({ obj }) => obj.type)).toEqual([
    'image_generation_start',
    'image_generation_final',
    'section_end',
    'message_start',
    'message_delta',
    'stop',
  ])
  // After a picture the model only has to say something.
  expect(harness.requests().at(-1)?.body['tool_choice']).toBe('none')
})

test('a picture that cannot be drawn ends in an error packet, and the run goes on', async () => {
  const images = await startImages({ png: new Uint8Array(), mood: 'policy' })
  onTestFinished(() => images.close())
  const harness = await openActionHarness({ imageGenerator: { name: 'draw-1', baseUrl: images.baseUrl } })
  const lines = await harness.ask('Draw it', [calls(['generate_image', { prompt: 'x' }]), says('I may not.')])
  expect(orderFaults(lines)).toEqual([])
  expect(packetOf(lines, 'error')).toMatchObject({ error_code: 'CONTENT_POLICY', is_retryable: false })
  expect(textOf(lines)).toBe('I may not.')
})

test('what is configured is on offer, under the same ids in every installation', async () => {
  const idsOf = async (options: Parameters<typeof openActionHarness>[0]): Promise<number[]> => {
    const harness = await openActionHarness(options)
    const tools = (await (await harness.fetch('/tool')).json()) as { id: number }[]
    return tools.map(({ id }) => id).filter((id) => id >= 2 && id <= 4)
  }
  expect(await idsOf({})).toEqual([3])
  expect(await idsOf({ pageReader: null })).toEqual([])
  const all = { webSearch: async () => [], imageGenerator: async () => [] }
  expect(await idsOf(all)).toEqual([2, 3, 4])
})
