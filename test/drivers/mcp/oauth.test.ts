import { describe, expect, onTestFinished, test } from 'vitest'
import type { McpTokens } from '@inlay/drivers/mcp-client'
import { ana } from '../../agent/setting.ts'
import { call, find, newClient } from './client-fixture.ts'
import { startStrictServer } from './strict-server.ts'

const redirectUrl = 'http://127.0.0.1:9/callback'
const loopback = { egress: { allowHosts: ['127.0.0.1'] } }

async function strictServer(options?: Parameters<typeof startStrictServer>[0]) {
  const strict = await startStrictServer(options)
  onTestFinished(strict.close)
  return strict
}

function memoryTokens() {
  const kept = new Map<string, string>()
  const tokens: McpTokens = {
    read: async (key) => kept.get(key),
    write: async (key, value) => void kept.set(key, value),
  }
  return { kept, tokens }
}

/** What the browser of a person does, who allows everything. */
async function allow(url: string): Promise<URLSearchParams> {
  const response = await globalThis.fetch(url, { redirect: 'manual' })
  return new URL(response.headers.get('location')!).searchParams
}

async function signedInClient() {
  const strict = await strictServer()
  const { kept, tokens } = memoryTokens()
  const { client, errors } = newClient([strict.server], { tokens, ...loopback })
  await client.finishSignIn('wiki', await allow(await client.signIn('wiki', redirectUrl)))
  return { ...strict, client, errors, kept, tokens }
}

describe('a server that asks to sign in', () => {
  test('is left out until a person has done so, and the operator reads what to do', async () => {
    const { server, seen } = await strictServer()
    const { client, errors } = newClient([server], { tokens: memoryTokens().tokens })
    expect(await client.list({ caller: ana })).toEqual([])
    const advice = expect.stringContaining('run `inlay sign-in wiki`')
    expect(errors).toEqual([expect.objectContaining({ message: advice })])
    expect(await client.check()).toEqual([{ name: 'wiki', tools: [], problem: advice, needsSignIn: true }])
    // Nothing is registered without a person.
    expect(seen).toEqual([])
  })

  test('is called once a person has allowed it: Inlay registers itself, and proves who began', async () => {
    const { client, seen, kept } = await signedInClient()
    const { delta } = await call(await find(client, 'look_up'), {})
    expect(delta?.data).toEqual({ tool_result: 'found' })
    expect(seen).toEqual([
      'GET /.well-known/oauth-protected-resource/mcp',
      'GET /.well-known/oauth-authorization-server',
      'POST /register',
      'GET /authorize',
      'POST /token',
    ])
    expect([...kept.keys()]).toEqual([expect.stringMatching(/^wiki http:/)])
  })

  test('gets a new token when it refuses the old one, once for all calls that wait, and another client has it', async () => {
    const { client, server, tokens, valid, seen } = await signedInClient()
    const action = await find(client, 'look_up')
    valid.clear()
    seen.length = 0
    const answers = await Promise.all([1, 2, 3].map((at) => call(action, {}, { sessionId: `s${at}` })))
    expect(answers.map(({ delta }) => delta?.data)).toEqual(Array(3).fill({ tool_result: 'found' }))
    expect(seen.filter((path) => path === 'POST /token')).toHaveLength(1)
    const { client: other } = newClient([server], { tokens, ...loopback })
    expect((await call(await find(other, 'look_up'), {})).delta?.data).toEqual({ tool_result: 'found' })
    expect(seen.filter((path) => path === 'POST /token')).toHaveLength(1)
  })

  test('is asked for anew when it withdrew what was allowed', async () => {
    const { client, valid, refreshTokens } = await signedInClient()
    const action = await find(client, 'look_up')
    valid.clear()
    refreshTokens.clear()
    const { delta } = await call(action, {})
    expect(delta?.data).toEqual({ error: expect.stringContaining('asks to sign in') })
    await client.finishSignIn('wiki', await allow(await client.signIn('wiki', redirectUrl)))
    expect((await call(action, {})).delta?.data).toEqual({ tool_result: 'found' })
  })

  test('does not get the tokens of another server of its name', async () => {
    const { server, tokens } = await signedInClient()
    const other = await strictServer()
    const { client } = newClient([{ ...other.server, name: server.name }], { tokens, ...loopback })
    expect(await client.list({ caller: ana })).toEqual([])
  })

  test.each([
    ['another state', (query: URLSearchParams) => query.set('state', 'forged')],
    ['another issuer', (query: URLSearchParams) => query.set('iss', 'https://evil.example')],
    ['a refusal', (query: URLSearchParams) => (query.delete('code'), query.set('error', 'access_denied'))],
  ])('is not signed in to by an answer with %s', async (_, change) => {
    const { server } = await strictServer()
    const { kept, tokens } = memoryTokens()
    const { client } = newClient([server], { tokens, ...loopback })
    const query = await allow(await client.signIn('wiki', redirectUrl))
    change(query)
    await expect(client.finishSignIn('wiki', query)).rejects.toMatchObject({
      message: expect.stringMatching(/sign|Sign/),
    })
    expect([...kept.values()].join()).not.toContain('access_token')
  })

  test('is signed in to by the sign-in that was begun last, in any process, and keeps the old one until then', async () => {
    const { client, server, tokens, kept } = await signedInClient()
    const [before] = kept.values()
    const first = await allow(await client.signIn('wiki', redirectUrl))
    const second = await allow(await client.signIn('wiki', redirectUrl))
    const { client: other } = newClient([server], { tokens, ...loopback })
    await expect(other.finishSignIn('wiki', first)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    expect((await call(await find(other, 'look_up'), {})).delta?.data).toEqual({ tool_result: 'found' })
    await other.finishSignIn('wiki', second)
    const [after = ''] = kept.values()
    expect(after).toContain('access_token')
    expect(after).not.toBe(before)
    expect(after).not.toContain('pending')
    await expect(other.finishSignIn('wiki', second)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })

  test('lets a registered client in without a person', async () => {
    const { server, origin: issuer, clients, valid } = await strictServer()
    clients.set('robot', { redirect_uris: [], secret: 'of the robot' })
    const oauth = { clientId: 'robot', clientSecret: 'of the robot', issuer, grant: 'client_credentials' } as const
    const { kept, tokens } = memoryTokens()
    const { client } = newClient([{ ...server, oauth }], { tokens, ...loopback })
    const action = await find(client, 'look_up')
    expect((await call(action, {})).delta?.data).toEqual({ tool_result: 'found' })
    valid.clear()
    expect((await call(action, {})).delta?.data).toEqual({ tool_result: 'found' })
    expect([...kept.values()].join()).not.toContain('of the robot')
  })

  test('does not get the secret of a client of another authorization server', async () => {
    const { server, seen } = await strictServer()
    const issuer = 'https://login.example'
    const oauth = { clientId: 'robot', clientSecret: 'of the robot', issuer, grant: 'client_credentials' } as const
    const { client } = newClient([{ ...server, oauth }], { tokens: memoryTokens().tokens, ...loopback })
    expect(await client.list({ caller: ana })).toEqual([])
    expect(seen.filter((path) => path.startsWith('POST'))).toEqual([])
  })

  test('keeps the sign-in that another process renewed first', async () => {
    const { client, kept, valid, refreshTokens, server, tokens, seen } = await signedInClient()
    const action = await find(client, 'look_up')
    const [[key, before] = ['', '']] = kept
    valid.clear()
    await call(action, {})
    const after = kept.get(key)!
    // This one read the sign-in just before the other had written it.
    let reads = 0
    const late: McpTokens = { ...tokens, read: async () => (++reads <= 2 ? before : kept.get(key)) }
    const { client: other } = newClient([server], { tokens: late, ...loopback })
    seen.length = 0
    expect((await call(await find(other, 'look_up'), {})).delta?.data).toEqual({ tool_result: 'found' })
    expect(seen).toEqual(['POST /token'])
    expect([kept.get(key), refreshTokens.size]).toEqual([after, 1])
  })

  test('keeps what a person does while the old sign-in is renewed', async () => {
    const { client, kept, valid, tokens, server } = await signedInClient()
    const [key = ''] = kept.keys()
    const callWhile = async (act: () => Promise<void>): Promise<void> => {
      valid.clear()
      let reads = 0
      // Once the renewal has read the old one, before it writes the new one.
      const read: McpTokens['read'] = async (name) => {
        const stored = await tokens.read(name)
        if (++reads === 2) await act()
        return stored
      }
      const { client: other } = newClient([server], { tokens: { ...tokens, read }, ...loopback })
      expect((await call(await find(other, 'look_up'), {})).delta?.data).toEqual({ tool_result: 'found' })
    }
    let [address, finished] = ['', '']
    await callWhile(async () => void (address = await client.signIn('wiki', redirectUrl)))
    await callWhile(async () => {
      await client.finishSignIn('wiki', await allow(address))
      finished = kept.get(key)!
    })
    expect(kept.get(key)).toBe(finished)
  })

  test.each(['javascript:alert(1)', 'data:text/html,x', 'vnd.tool:run', 'file:///etc/passwd'])(
    'cannot send the browser of a person to %s',
    async (authorizePage) => {
      const { server } = await strictServer({ authorizePage })
      const { kept, tokens } = memoryTokens()
      const { client } = newClient([server], { tokens, ...loopback })
      await expect(client.signIn('wiki', redirectUrl)).rejects.toMatchObject({ code: 'BAD_GATEWAY' })
      expect([...kept]).toEqual([])
    },
  )

  test('cannot make Inlay fetch addresses of the private network', async () => {
    const { server } = await strictServer()
    const { client } = newClient([{ ...server, allowPrivate: false }], { tokens: memoryTokens().tokens })
    await expect(client.signIn('wiki', redirectUrl)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })
})
