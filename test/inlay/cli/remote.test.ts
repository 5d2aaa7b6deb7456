import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { nodeListener } from 'inlay'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { key, serve } from './installation.ts'

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

let folder: string
let url: string
/** What the last command said so far. */
let errors: string

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'inlay-remote-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  mkdirSync(join(folder, 'handbook'))
  writeFileSync(join(folder, 'handbook/leave.md'), '# Leave\n\nStaff receive 25 days of paid leave a year.\n')
  writeFileSync(join(folder, 'handbook/trains.md'), '# Trains\n\nStaff travel by train in second class.\n')
  url = (await serve({ dataFolder: join(folder, 'server'), worker: { lingerMs: 1 } })).base
})

/** Runs a command on the server; its own data folder would be another, empty one. */
async function inlay(
  words: readonly string[],
  { input, signal }: { input?: Readable; signal?: AbortSignal } = {},
): Promise<Ended> {
  let [out, err] = ['', '']
  const code = await runCommandLine([words[0]!, '--url', url, '--key', key, ...words.slice(1)], {
    env: () => ({ INLAY_DATA: join(folder, 'other') }),
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (errors = err += text) },
    stdin: input ?? Readable.from([]),
    signal: signal ?? new AbortController().signal,
  })
  return { code, out, err }
}

const json = async (...words: string[]): Promise<unknown> => JSON.parse((await inlay([...words, '--json'])).out)

describe('with --url', () => {
  test('files are read here and found there, by every command', async () => {
    const ended = await inlay(['ingest', join(folder, 'handbook')])
    expect([ended.code, ended.out]).toEqual([0, '2 new, 0 changed, 0 unchanged, 0 failed\n'])
    expect(await json('documents')).toEqual([
      { document_id: 'handbook/leave.md', semantic_id: 'Leave', link: 'handbook/leave.md', state: 'indexed' },
      { document_id: 'handbook/trains.md', semantic_id: 'Trains', link: 'handbook/trains.md', state: 'indexed' },
    ])
    expect(await json('search', 'second class', '--limit', '1')).toEqual([
      { title: 'Trains', link: 'handbook/trains.md', content: '# Trains\n\nStaff travel by train in second class.' },
    ])
    const answered = await inlay(['ask', 'How many days of paid leave do staff receive?'])
    expect([answered.code, answered.out]).toEqual([
      0,
      expect.stringMatching(/25 days[^]*\[1\] Leave {2}handbook\/leave\.md/),
    ])
    expect((await inlay(['doctor'])).out).toMatch(/ok +Documents: 2 searchable, 0 waiting, 0 failed/)
  })

  test('keys are created, listed and revoked there', async () => {
    const created = (await json('keys', 'create', '--name', 'importer', '--scope', 'ingest', '--expires', '3')) as {
      id: number
      key: string
    }
    const own = await fetch(`${url}/me`, { headers: { authorization: `Bearer ${created.key}` } })
    expect(own.status).toBe(200)
    expect(await json('keys', 'list')).toMatchObject([{ id: created.id, name: 'importer', scopes: ['ingest'] }])
    expect((await inlay(['keys', 'revoke', String(created.id)])).code).toBe(0)
    expect(await json('keys', 'list')).toEqual([])
  })

  test('an agent is created from a file, changed and deleted by its name', async () => {
    const file = join(folder, 'agent.json')
    writeFileSync(
      file,
      JSON.stringify({ name: 'Archivist', description: 'Knows the archive.', system_prompt: 'Be brief.' }),
    )
    expect(await inlay(['agents', 'create', file])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/Agent \d+, Archivist, is saved/),
    })
    writeFileSync(file, JSON.stringify({ description: 'Knows it well.' }))
    await inlay(['agents', 'update', 'archivist', file])
    expect(JSON.parse((await inlay(['agents', 'show', 'Archivist', '--json'])).out)).toMatchObject({
      description: 'Knows it well.',
      system_prompt: 'Be brief.',
    })
    expect((await inlay(['agents', 'delete', 'Archivist'])).code).toBe(0)
    expect(await inlay(['agents', 'show', 'Archivist'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no agent "Archivist"'),
    })
  })

  test('a document is deleted; one that is missing is named', async () => {
    await inlay(['ingest', join(folder, 'handbook')])
    expect((await inlay(['documents', 'delete', 'handbook/leave.md'])).code).toBe(0)
    expect(await json('documents', '--match', 'leave')).toEqual([])
    expect(await inlay(['documents', 'show', 'handbook/leave.md'])).toMatchObject({ code: 1, out: '' })
  })

  test('files that are gone are deleted with --prune', async () => {
    await inlay(['ingest', join(folder, 'handbook')])
    rmSync(join(folder, 'handbook/trains.md'))
    const ended = await inlay(['ingest', join(folder, 'handbook'), '--prune', '--json'])
    expect(JSON.parse(ended.out)).toMatchObject({ files: 1, removed: 1 })
    expect(await json('documents')).toMatchObject([{ document_id: 'handbook/leave.md' }])
  })

  test('files in a folder that may not be read are not deleted with --prune, and it is named', async () => {
    mkdirSync(join(folder, 'handbook/\u001b[2Jclosed'))
    writeFileSync(join(folder, 'handbook/\u001b[2Jclosed/c.md'), '# C\n\nClosed.\n')
    await inlay(['ingest', join(folder, 'handbook')])
    const { readdir } = promises
    const refused = Object.assign(new Error('permission denied'), { code: 'EACCES' })
    // As root, which tests may run as, every folder can be read.
    promises.readdir = (async (path: string, options: { withFileTypes: true }) => {
      if (path.endsWith('closed')) throw refused
      return readdir(path, options)
    }) as typeof readdir
    syncBuiltinESMExports()
    onTestFinished(() => {
      promises.readdir = readdir
      syncBuiltinESMExports()
    })
    const { code, out, err } = await inlay(['ingest', join(folder, 'handbook'), '--prune', '--json'])
    expect([code, JSON.parse(out)]).toEqual([1, expect.objectContaining({ files: 2, failed: 1, removed: 0 })])
    expect(err).toContain('inlay: handbook/[2Jclosed: this user may not read the folder.')
  })

  test('a name in a failure cannot control the terminal', async () => {
    writeFileSync(join(folder, 'handbook/\u001b[2Jbroken.pdf'), 'no PDF')
    const { code, err } = await inlay(['ingest', join(folder, 'handbook')])
    expect([code, err]).toEqual([1, expect.stringContaining('inlay: handbook/[2Jbroken.pdf: ')])
    expect(err).not.toContain('\u001b')
  })

  test.each([['backup', 'somewhere'], ['restore', 'somewhere'], ['erase', 'ana'], ['serve']])(
    '%s is refused with the way to do it',
    async (...words) => {
      expect(await inlay(words)).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringMatching(/--url does not work here: \w+/),
      })
    },
  )
})

test('a server that is not there is named, with what to do', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  url = `127.0.0.1:${port}`
  for (const words of [['ask', 'Hello?'], ['search', 'x'], ['keys'], ['ingest', join(folder, 'handbook')]])
    expect(await inlay(words)).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        new RegExp(`^inlay: http://127.0.0.1:${port}/api cannot be reached: nothing listens there[^:]+right\\?$`, 'm'),
      ),
    })
})

test('a wrong key is told once, not for each file, with how to give another', async () => {
  const ended = await inlay(['ingest', join(folder, 'handbook'), '--key', 'wrong', '--json'])
  const message = 'The API key is unknown or was revoked. Specify a key with --key or INLAY_API_KEY.'
  expect([ended.code, JSON.parse(ended.out)]).toEqual([1, { error: { code: 'INVALID_TOKEN', message } }])
  expect(ended.err.match(/The API key/g)).toHaveLength(1)
  expect(ended.err).not.toMatch(/closed|same command/)
  const checks = (await inlay(['doctor', '--key', 'wrong'])).out
  expect(checks.match(/FAILED.*The API key/g)).toHaveLength(1)
})

/** A server at `url` that is not Inlay. */
async function serveOther(answer: RequestListener): Promise<void> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const commandsOnServer = (): readonly (readonly string[])[] => {
  const questions = join(folder, 'questions.jsonl')
  writeFileSync(questions, '{"question":"How many days of leave?"}')
  return [
    ['ask', 'Leave?'],
    ['search', 'x'],
    ['documents'],
    ['keys'],
    ['agents'],
    ['doctor'],
    ['reindex'],
    ['ingest', join(folder, 'handbook')],
    ['check-client'],
    ['eval', questions],
  ]
}

test('a web site at the URL is told from the API by every command', async () => {
  await serveOther((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hello</p>'))
  for (const words of commandsOnServer()) {
    const { code, out, err } = await inlay(words)
    expect([words[0], code, out + err]).toEqual([
      words[0],
      1,
      expect.stringContaining(`${url}/api answered with a web page, so it is not the API of Inlay. Specify the URL`),
    ])
  }
})

test('a server that goes away says how many files it has', async () => {
  await serveOther((_, response) => response.writeHead(503, { 'content-type': 'application/json' }).end('{}'))
  const { code, err } = await inlay(['ingest', join(folder, 'handbook')])
  expect([code, err]).toEqual([1, expect.stringMatching(/^0 of 2 files were sent\. Run the same command again/m)])
})

test('a redirect is not followed, which would lose the key, but named', async () => {
  await serveOther((_, response) => response.writeHead(301, { location: 'https://docs.example/api' }).end())
  for (const words of commandsOnServer()) {
    const { code, out, err } = await inlay(words)
    expect([words[0], code, out + err]).toEqual([
      words[0],
      1,
      expect.stringContaining(`${url}/api redirects to https://docs.example: specify the URL that`),
    ])
  }
})

test('a proxy without its server, TLS where there is none, and another API are told apart', async () => {
  await serveOther((request, response) => {
    if (request.url?.startsWith('/api/admin')) return response.end('{"hello":1}')
    response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502 Bad Gateway</h1>')
  })
  expect((await inlay(['documents'])).err).toMatch(/answered with status 502 and a web page: a proxy stands there/)
  expect((await inlay(['keys'])).err).toMatch(/answered with something else than documented/)
  url = url.replace('http:', 'https:')
  expect((await inlay(['documents'])).err).toMatch(/^inlay: https:\S+ cannot be reached: .*TLS\. Try http:\/\/\.\n$/)
})

test('a server with TLS that fails is not asked without TLS', async () => {
  // Without a certificate, it has no cipher to offer.
  const server = createTlsServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  expect((await inlay(['documents'])).err).toMatch(/^inlay: https:\S+ cannot be reached: .*handshake failure\.\n$/)
})

test.each([
  ['CERT_HAS_EXPIRED', 'certificate has expired', /: certificate has expired\.\n$/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', "does not match certificate's altnames", /: does not match \S+ altnames\.\n$/],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate', /NODE_EXTRA_CA_CERTS=<file>\.\n$/],
])('a certificate that is refused: %s', async (code, message, said) => {
  const cause = Object.assign(new Error(message), { code })
  vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('fetch failed', { cause }))
  onTestFinished(() => void vi.restoreAllMocks())
  url = 'https://docs.example'
  expect((await inlay(['documents'])).err).toMatch(said)
})

test('an answer that breaks off keeps its text, and the error stands on a line of its own', async () => {
  const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: null }
  const packets = [
    { type: 'message_start', id: '1', content: '', final_documents: null },
    { type: 'message_delta', content: 'Staff receive 25' },
  ]
  await serveOther((request, response) => {
    if (!request.url?.endsWith('/send-chat-message')) return response.destroy()
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write(packets.map((obj) => `${JSON.stringify({ placement, obj })}\n`).join(''), () => response.destroy())
  })
  const { code, out, err } = await inlay(['ask', 'How many days?'])
  expect([code, out]).toEqual([1, 'Staff receive 25\n'])
  expect(err).toMatch(/^inlay: /)
})

test('a missing document among several is named', async () => {
  await inlay(['ingest', join(folder, 'handbook')])
  expect(await inlay(['documents', 'delete', 'handbook/leave.md', 'handbook/nothing.md'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('there is no document "handbook/nothing.md"'),
  })
})

test('pages of a sitemap are taken in under their URLs', async () => {
  const pages: Record<string, string> = {
    '/start': '<html><head><title>Start</title></head><body><p>The observatory opens at nine.</p></body></html>',
    '/end': '<html><head><title>End</title></head><body><p>The observatory closes at six.</p></body></html>',
  }
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const host = `http://${request.headers.host}`
    if (path === '/sitemap.xml')
      return response.end(
        `<?xml version="1.0"?><urlset><url><loc>${host}/start</loc></url><url><loc>${host}/end</loc></url>` +
          `<url><loc>${host}/missing</loc></url><url><loc>http://elsewhere.example/x</loc></url></urlset>`,
      )
    const page = pages[path]
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html' }).end(page)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ended = await inlay(['ingest', `${site}/sitemap.xml`, '--json'])
  expect([ended.code, JSON.parse(ended.out)]).toEqual([1, expect.objectContaining({ files: 3, new: 2, failed: 1 })])
  expect(ended.err).toContain(`${site}/missing: the page answered with status 404.`)
  expect(await json('search', 'closes', '--limit', '1')).toMatchObject([{ title: 'End', link: `${site}/end` }])
})

/** A site that answers by path, and counts what it is asked for. */
async function siteOf(
  answers: (host: string) => Record<string, string | Buffer | { text: string; headers: Record<string, string> }>,
) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    const answer = answers(`http://${request.headers.host}`)[request.url ?? '']
    if (answer === undefined) return response.writeHead(404).end()
    if (typeof answer === 'string' || Buffer.isBuffer(answer)) return response.end(answer)
    return response.writeHead(200, answer.headers).end(answer.text)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  return { site: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

const page = (words: string, head = ''): string =>
  `<html><head>${head}<title>${words}</title></head><body><p>${words}</p></body></html>`
const locations = (urls: readonly string[]): string => urls.map((each) => `<url><loc>${each}</loc></url>`).join('')

test('a sitemap that cannot be read loses its own pages alone, and is named at the end', async () => {
  const { site, requests } = await siteOf((host) => ({
    '/sitemap.xml': `<sitemapindex><sitemap><loc>${host}/dead.xml</loc></sitemap><sitemap><loc>${host}/sitemap.xml</loc></sitemap><sitemap><loc><![CDATA[${host}/good.xml.gz]]></loc></sitemap><sitemap><loc>${host}/torn.xml.gz</loc></sitemap><sitemap><loc>${host}/open.xml</loc></sitemap></sitemapindex>`,
    // Read in linear time: for each opening the rest of the text would take an hour.
    '/open.xml': `<urlset>${'<loc><![CDATA['.repeat(500_000)}`,
    '/good.xml.gz': gzipSync(`<urlset>${locations([`${host}/one`, `${host}/one#x`])}</urlset>`),
    '/torn.xml.gz': gzipSync('<urlset></urlset>').subarray(0, 20),
    '/one': page('The lighthouse is open.'),
  }))
  const ended = await inlay(['ingest', `${site}/sitemap.xml`, `${site}/other.xml`, '--json'])
  expect([ended.code, JSON.parse(ended.out)]).toEqual([1, expect.objectContaining({ new: 1, failed: 3 })])
  expect(ended.err).toContain(`${site}/dead.xml: the page answered with status 404.`)
  expect(ended.err).toContain(`${site}/torn.xml.gz: the packed sitemap is damaged`)
  expect(ended.err).toContain(`${site}/other.xml: the page answered with status 404.`)
  expect(requests.filter((path) => path === '/good.xml.gz')).toHaveLength(1)
  expect(await json('search', 'lighthouse', '--limit', '1')).toMatchObject([{ link: `${site}/one` }])
})

test('a site is read as its robots.txt, its pages and their headers ask for', async () => {
  const { site, requests } = await siteOf((host) => ({
    '/robots.txt': `User-agent: *\nDisallow: /private\nCrawl-delay: 0.2\nSitemap: ${host}/map.xml\n`,
    '/map.xml': `<urlset>${locations(['/open', '/private/a', '/unlisted', '/tagged', '/shop?a=1', '/shop', '/old'].map((path) => host + path))}</urlset>`,
    '/open': page('Opening hours'),
    '/private/a': page('Private'),
    '/unlisted': page('Unlisted', '<meta name="robots" content="noindex, follow">'),
    '/tagged': { text: page('Tagged'), headers: { 'x-robots-tag': 'googlebot: nofollow, none' } },
    '/shop': page('Shop', '<link rel="canonical" href="/shop">'),
    '/shop?a=1': page('Shop', '<link href="/shop" rel="canonical">'),
    '/old': page('Old', '<!-- <meta name="robots" content="noindex"> --><link rel=canonical href=/new>'),
  }))
  const began = performance.now()
  const ended = await inlay(['ingest', `${site}/robots.txt`, '--json'])
  const tookMs = performance.now() - began
  expect([ended.code, JSON.parse(ended.out)]).toEqual([0, expect.objectContaining({ new: 3, failed: 0, excluded: 4 })])
  expect(requests).not.toContain('/private/a')
  // A busy machine only makes it longer.
  const pages = requests.filter((path) => !/robots|map/.test(path))
  expect(tookMs).toBeGreaterThan((pages.length - 1) * 190)
  const documents = (await json('documents')) as { document_id: string }[]
  expect(documents.map(({ document_id: id }) => id).sort()).toEqual([`${site}/new`, `${site}/open`, `${site}/shop`])
  // A page that is named is wanted.
  expect(JSON.parse((await inlay(['ingest', `${site}/unlisted`, '--json'])).out)).toMatchObject({ new: 1 })
})

test('a site whose rules cannot be had is left alone', async () => {
  const server = createServer((_, response) => response.writeHead(503).end()).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  expect(await inlay(['ingest', `${site}/sitemap.xml`])).toMatchObject({
    code: 1,
    err: expect.stringContaining('robots.txt answered with status 503, so its pages are left alone'),
  })
})

test('texts of all kinds in a folder are read', async () => {
  for (const name of [
    'main.py',
    'setup.json',
    'rules.yaml',
    'film.srt',
    'paper.tex',
    'notes.org',
    'tool.ts',
    'feed.xml',
  ])
    writeFileSync(join(folder, 'handbook', name), 'The heron stands in the reeds.')
  expect((await inlay(['ingest', join(folder, 'handbook')])).out).toBe('10 new, 0 changed, 0 unchanged, 0 failed\n')
})

test('a quoted pattern names the files it matches', async () => {
  symlinkSync(join(folder, 'nowhere'), join(folder, 'handbook/to-nowhere.md'))
  const ended = await inlay(['ingest', join(folder, 'handbook/t*.md'), '--json'])
  expect(JSON.parse(ended.out)).toMatchObject({ files: 1, new: 1 })
  expect(await inlay(['ingest', join(folder, 'handbook/x*.md')])).toMatchObject({
    code: 1,
    err: expect.stringContaining('no file with a supported type matches'),
  })
})

test('an interrupted ingest counts the files that were not read in its summary', async () => {
  const interruption = new AbortController()
  interruption.abort()
  expect(await inlay(['ingest', join(folder, 'handbook')], { signal: interruption.signal })).toMatchObject({
    code: 130,
    out: '0 new, 0 changed, 0 unchanged, 0 failed, 2 not read\n',
    err: expect.stringContaining('2 files were not read: run the same command again to continue.'),
  })
})

test('a watched folder is followed until the interruption, also while the server restarts', async () => {
  const interruption = new AbortController()
  const other = { dataFolder: join(folder, 'restarting'), worker: { lingerMs: 1 } }
  let isAway = false
  const requestPaths: string[] = []
  const restarting = createServer((request, response) => {
    requestPaths.push(decodeURIComponent(request.url ?? ''))
    if (isAway) response.destroy()
    else forward(request, response)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void restarting.close())
  const { inlay: assistant } = await serve(other)
  const forward = nodeListener(assistant.fetch)
  url = `http://127.0.0.1:${(restarting.address() as AddressInfo).port}`
  mkdirSync(join(folder, 'handbook/sub'))
  writeFileSync(join(folder, 'handbook/sub/\u001b[2Js.md'), '# Sub\n\nBelow.\n')
  const ended = inlay(['ingest', join(folder, 'handbook'), '--watch'], { signal: interruption.signal })
  const ids = async (): Promise<string[]> =>
    ((await json('documents')) as { document_id: string }[]).map(({ document_id: id }) => id)
  await expect.poll(ids).toHaveLength(3)
  // The watch begins after the first pass: the file is written until it is seen.
  const write = (name: string) => async (): Promise<string[]> => {
    writeFileSync(join(folder, 'handbook', name), `# New\n\nWritten ${Math.random()}.\n`)
    return ids()
  }
  await expect.poll(write('new.md'), { interval: 600 }).toContain('handbook/new.md')
  rmSync(join(folder, 'handbook/leave.md'))
  await expect.poll(ids).not.toContain('handbook/leave.md')
  // Moved with its files, of which no event tells.
  renameSync(join(folder, 'handbook/sub'), join(folder, 'handbook/moved'))
  await expect.poll(ids).not.toContain('handbook/sub/\u001b[2Js.md')
  await expect.poll(ids).toContain('handbook/moved/\u001b[2Js.md')
  isAway = true
  writeFileSync(join(folder, 'handbook/late.md'), '# Late\n')
  await expect.poll(() => errors).toMatch(/cannot be reached.*Trying again every 2 s\./s)
  isAway = false
  await expect.poll(ids).toContain('handbook/late.md')
  interruption.abort()
  const { code, out } = await ended
  expect([code, out]).toEqual([0, expect.stringContaining('deleted handbook/sub/[2Js.md\n')])
  // Documents below are sought only where no file was deleted.
  expect(requestPaths.join('\n')).toContain('match=handbook/sub/')
  expect(requestPaths.join('\n')).not.toContain('match=handbook/leave.md/')
})

describe('inlay chat', () => {
  test('answers each line in one conversation', async () => {
    await inlay(['ingest', join(folder, 'handbook')])
    const lines = ['How many days of paid leave do staff receive?', '/sources', 'How do staff travel by train?', '']
    const ended = await inlay(['chat', '--json'], { input: Readable.from([lines.join('\n')]) })
    const answers = ended.out
      .trim()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { chat_session_id: string; answer: string })
    expect(answers.map(({ answer }) => answer)).toEqual([
      expect.stringContaining('25 days'),
      expect.stringContaining('second class'),
    ])
    expect(new Set(answers.map(({ chat_session_id: id }) => id)).size).toBe(1)
    expect([ended.code, ended.out]).toEqual([0, expect.stringContaining('[1] Leave')])
  })

  test('attaches a file, lists agents and models, and begins anew', async () => {
    const note = join(folder, 'note.md')
    writeFileSync(note, 'The harbour crane lifts 90 tonnes.')
    const lines = [
      '/agent',
      '/model',
      '/model nothing',
      `/file ${note}`,
      'How much does the harbour crane lift?',
      '/new',
      '/quit',
      'x',
    ]
    const ended = await inlay(['chat'], { input: Readable.from([`${lines.join('\n')}\n`]) })
    expect(ended.err).toMatch(
      /0 {2}Assistant[^]*inlay\/extractive[^]*no model "nothing"[^]*note\.md will be sent with the next question/,
    )
    expect(ended.out).toContain('90 tonnes')
    expect(ended.err).toContain('Started a new conversation.')
    expect(ended.code).toBe(1)
  })

  test('ends with 130 when interrupted at the prompt', async () => {
    const interruption = new AbortController()
    const input = new PassThrough()
    const ended = inlay(['chat'], { input, signal: interruption.signal })
    input.write('/help\n')
    interruption.abort()
    expect((await ended).code).toBe(130)
  })
})

test('init writes a key once, and keeps it out of git', async () => {
  const { mkdtemp, readFile } = await import('node:fs/promises')
  const home = await mkdtemp(join(tmpdir(), 'inlay-init-'))
  const before = process.cwd()
  onTestFinished(() => {
    process.chdir(before)
    rmSync(home, { recursive: true, force: true })
  })
  process.chdir(home)
  mkdirSync('.git')
  writeFileSync('.git/HEAD', 'ref: refs/heads/main\n')
  writeFileSync('.env', 'PORT=4000')
  const init = async (): Promise<number> =>
    runCommandLine(['init'], {
      env: () => ({}),
      stdout: { write: () => {} },
      stderr: { write: () => {} },
      signal: new AbortController().signal,
    })
  expect(await init()).toBe(0)
  const written = await readFile('.env', 'utf8')
  expect(written).toMatch(/^PORT=4000\n[^]*^INLAY_API_KEY=inlay_[\w-]{32}$/m)
  expect(await readFile('.gitignore', 'utf8')).toBe('.env\n.inlay/\n')
  expect(await init()).toBe(1)
  expect(await readFile('.env', 'utf8')).toBe(written)
})

test('doctor that is interrupted is not told to have found a fault', async () => {
  const interruption = new AbortController()
  interruption.abort()
  const { code, out } = await inlay(['doctor'], { signal: interruption.signal })
  expect([code, out]).toEqual([130, expect.not.stringContaining('FAILED')])
})

test('doctor names what is wrong, with what to do', async () => {
  const server = createServer((_, response) => response.end('no')).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const file = join(folder, 'a-file')
  writeFileSync(file, '')
  let out = ''
  const code = await runCommandLine(['doctor', '--json'], {
    env: () => ({ INLAY_DATA: file, PORT: String(port) }),
    stdout: { write: (text) => (out += text) },
    stderr: { write: () => {} },
    signal: new AbortController().signal,
  })
  const findings = JSON.parse(out) as { check: string; status: string; advice?: string }[]
  expect(code).toBe(1)
  expect(findings).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ check: 'Versions', status: 'ok' }),
      expect.objectContaining({
        check: 'Data folder',
        status: 'failed',
        advice: expect.stringContaining('INLAY_DATA'),
      }),
      expect.objectContaining({ check: 'Port', status: 'warning', advice: expect.stringContaining('--port') }),
    ]),
  )
  // What needs the folder would only fail for the same reason.
  expect(findings.map(({ check }) => check)).not.toContain('Ready')
})

test('doctor needs no folder where everything is kept on servers', async () => {
  const unused = join(folder, 'unused')
  let out = ''
  await runCommandLine(['doctor', '--json'], {
    env: () => ({
      INLAY_DATA: unused,
      PORT: '0',
      INLAY_DATABASE_URL: 'postgres://inlay:secret@127.0.0.1:9/inlay',
      INLAY_FILES_URL: 's3://bucket/files',
      INLAY_S3_ENDPOINT: 'http://127.0.0.1:9',
      INLAY_S3_ACCESS_KEY_ID: 'id',
      INLAY_S3_SECRET_ACCESS_KEY: 'secret',
    }),
    stdout: { write: (text) => (out += text) },
    stderr: { write: () => {} },
    signal: new AbortController().signal,
  })
  expect(JSON.parse(out)).toEqual(
    expect.arrayContaining([
      { check: 'Data folder', status: 'ok', message: expect.stringContaining('not used') },
      expect.objectContaining({ check: 'Ready', status: 'failed', message: expect.stringContaining('database') }),
    ]),
  )
  expect(existsSync(unused)).toBe(false)
})

test('doctor says each problem once', async () => {
  // A notice about this folder is not one about the embedding model.
  const local = join(folder, 'inlay reindex --embedder')
  const run = async (words: readonly string[], env: Record<string, string>): Promise<{ out: string; err: string }> => {
    let [out, err] = ['', '']
    await runCommandLine(words, {
      env: () => ({ INLAY_DATA: local, PORT: '0', ...env }),
      stdout: { write: (text) => (out += text) },
      stderr: { write: (text) => (err += text) },
      signal: new AbortController().signal,
    })
    return { out, err }
  }
  await run(['ingest', join(folder, 'handbook')], {})
  const embedding = { INLAY_EMBEDDING_MODEL: 'm', INLAY_EMBEDDING_DIMENSIONS: '4' }
  const model = { ...embedding, INLAY_EMBEDDING_BASE_URL: 'http://127.0.0.1:9/v1' }
  const mismatch = await run(['doctor', '--offline', '--json'], model)
  const findings = JSON.parse(mismatch.out) as { check: string; status: string }[]
  expect(findings.filter(({ check, status }) => status !== 'ok' && check !== 'Disk')).toEqual([
    {
      check: 'Embedding model',
      status: 'warning',
      message: expect.stringMatching(
        /^the documents use none, but the settings specify .*m@4: search uses keywords only/,
      ),
      advice: expect.stringContaining('inlay reindex --embedder'),
    },
  ])
  expect(mismatch.err).toBe('')
  const { out, err } = await run(['doctor'], { INLAY_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })
  expect(out).toMatch(/^FAILED {3}Ready: The database does not respond/m)
  expect(out.match(/The database .* is not used/g)).toHaveLength(1)
  expect(out.match(/does not respond/g)).toHaveLength(1)
  expect(err).toBe('')
})

test.each([
  ['Redis', { INLAY_REDIS_URL: 'redis://127.0.0.1:1' }, 'Redis cannot be reached.'],
  [
    'the bucket of files',
    {
      INLAY_FILES_URL: 's3://files',
      INLAY_S3_ENDPOINT: 'http://127.0.0.1:1',
      INLAY_S3_REGION: 'eu',
      INLAY_S3_ACCESS_KEY_ID: 'a',
      INLAY_S3_SECRET_ACCESS_KEY: 'b',
    },
    'The storage of files cannot be reached: try again later.',
  ],
])('doctor fails without %s, and writes nothing beside its JSON', async (_, engine, message) => {
  let [out, err] = ['', '']
  const code = await runCommandLine(['doctor', '--offline', '--json'], {
    env: () => ({ INLAY_DATA: join(folder, 'without-engine'), PORT: '0', INLAY_LOG: 'json', ...engine }),
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    signal: new AbortController().signal,
  })
  expect(JSON.parse(out)).toContainEqual({ check: 'Report', status: 'failed', message })
  expect([code, err]).toEqual([1, ''])
})

test('doctor says what to do about a model by how it fails', async () => {
  const provider = createServer((request, response) => {
    const isKnown = request.headers.authorization === 'Bearer the-right-key'
    response.writeHead(isKnown ? 404 : 401, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: isKnown ? 'model "m" not found' : 'Incorrect API key provided' } }))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void provider.close())
  await new Promise((resolve) => provider.once('listening', resolve))
  const address = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
  const findingOf = async (key: string, url = address): Promise<unknown> => {
    let out = ''
    const model = { INLAY_MODEL: 'm', INLAY_MODEL_BASE_URL: url, INLAY_MODEL_API_KEY: key }
    const code = await runCommandLine(['doctor', '--json'], {
      env: () => ({ INLAY_DATA: join(folder, 'doctor'), PORT: '0', ...model }),
      stdout: { write: (text) => (out += text) },
      stderr: { write: () => {} },
      signal: new AbortController().signal,
    })
    expect(code).toBe(1)
    return (JSON.parse(out) as { check: string }[]).find(({ check }) => check === 'Model')
  }
  expect(await findingOf('the-wrong-key')).toMatchObject({
    message: expect.stringContaining('Incorrect API key provided'),
    advice: expect.stringMatching(/^The key is refused: check INLAY_MODEL_API_KEY/),
  })
  expect(await findingOf('the-right-key')).toMatchObject({
    message: expect.stringContaining('not found'),
    advice: expect.stringMatching(/^Check the name \(INLAY_MODEL\) and the address/),
  })
  expect(await findingOf('the-right-key', 'http://127.0.0.1:9/v1')).toMatchObject({
    advice: expect.stringMatching(/^Start the server of the model, or correct its address/),
  })
})
