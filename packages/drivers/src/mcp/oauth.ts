import { randomUUID } from 'node:crypto'
import type { OAuthClientProvider, OAuthDiscoveryState, StoredOAuthTokens } from '@modelcontextprotocol/client'
import { InlayError, isInlayError, readJson } from '@inlay/protocol'
import type { EgressStream, EgressStreamAnswer } from '../http/egress-stream.ts'
import { installed, toMissing } from '../installed.ts'

/** How Inlay signs in to a server that asks for it. */
export interface McpOAuth {
  /** Client that was registered beforehand. Default: Inlay registers itself. */
  readonly clientId?: string
  readonly clientSecret?: string
  /** Authorization server that the client is registered with: its secret goes nowhere else. Needed with `clientSecret`. */
  readonly issuer?: string
  /** Scopes, separated by spaces. Default: those that the server names. */
  readonly scope?: string
  /** Signs in as the client itself, without a person. Needs `clientId`, `clientSecret` and `issuer`. */
  readonly grant?: 'client_credentials'
}

/** Keeps sign-ins to MCP servers as texts. They are secrets. */
export interface McpTokens {
  /** undefined when there is none. */
  read(server: string): Promise<string | undefined>
  write(server: string, signIn: string): Promise<void>
}

interface OAuthServer {
  readonly name: string
  readonly url: string
  readonly oauth?: McpOAuth
}

interface SignIn {
  redirectUrl?: string | undefined
  client?: Awaited<ReturnType<OAuthClientProvider['clientInformation']>>
  tokens?: StoredOAuthTokens | undefined
  discovery?: OAuthDiscoveryState | undefined
  /** Begun, and waiting for a person: it takes the place of this one once it is finished. */
  pending?: SignIn & { readonly attempt: Attempt }
}

/** What proves that the answer of a browser belongs to this sign-in. */
interface Attempt {
  readonly state: string
  verifier: string
}

/** Where the sign-in to a server is kept. Bound to the address, so that another server of the name never gets it. */
export const signInKey = ({ name, url }: Pick<OAuthServer, 'name' | 'url'>): string => `${name} ${url}`

async function readSignIn(server: OAuthServer, tokens: McpTokens): Promise<SignIn> {
  const stored = await tokens.read(signInKey(server))
  return stored === undefined ? {} : { ...(readJson(stored) as SignIn) }
}

const loadClient = () =>
  installed('@modelcontextprotocol/client', () => import('@modelcontextprotocol/client').catch(toMissing))

/** What the library asks for, over a record that it changes. */
function toProvider(
  { oauth = {} }: OAuthServer,
  signIn: SignIn,
  save: () => Promise<void> = async () => {},
  attempt: Attempt = { state: randomUUID(), verifier: '' },
) {
  const { clientId, clientSecret, issuer, scope, grant } = oauth
  const authorization = { url: '' }
  const own = clientId !== undefined && {
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    ...(issuer !== undefined && { issuer }),
  }
  // Of the configuration, and so never stored.
  if (own) delete signIn.client
  const provider: OAuthClientProvider = {
    redirectUrl: grant === undefined ? signIn.redirectUrl : undefined,
    clientMetadata: {
      client_name: 'Inlay',
      redirect_uris: signIn.redirectUrl === undefined ? [] : [signIn.redirectUrl],
      grant_types: grant === undefined ? ['authorization_code', 'refresh_token'] : [grant],
      response_types: grant === undefined ? ['code'] : [],
      ...(clientSecret === undefined && { token_endpoint_auth_method: 'none' }),
      ...(scope !== undefined && { scope }),
    },
    state: () => attempt.state,
    clientInformation: () => own || signIn.client,
    // Without it the library refuses another issuer than that of the client, in place of registering there.
    ...(!own && {
      saveClientInformation: (client) => {
        signIn.client = client
        return save()
      },
    }),
    tokens: () => signIn.tokens,
    saveTokens: (tokens) => {
      // A server that keeps the refresh token does not send it again.
      signIn.tokens = { ...(signIn.tokens?.refresh_token && { refresh_token: signIn.tokens.refresh_token }), ...tokens }
      return save()
    },
    redirectToAuthorization: (url) => {
      authorization.url = url.href
    },
    saveCodeVerifier: (verifier) => {
      attempt.verifier = verifier
    },
    codeVerifier: () => attempt.verifier,
    discoveryState: () => signIn.discovery,
    saveDiscoveryState: (discovery) => {
      signIn.discovery = discovery
      return save()
    },
    invalidateCredentials: (what) => {
      if (what === 'tokens' || what === 'all') delete signIn.tokens
      if (what === 'client' || what === 'all') delete signIn.client
      return save()
    },
    ...(grant !== undefined && {
      prepareTokenRequest: (scopes) =>
        new URLSearchParams({ grant_type: grant, ...(scopes !== undefined && { scope: scopes }) }),
    }),
  }
  return { provider, attempt, authorization }
}

// One renewal at a time: a server may take a refresh token only once.
const renewals = new WeakMap<McpTokens, Map<string, Promise<boolean>>>()

/** Sends every request with the token of a server, which is renewed when the server refuses it. */
export function signedIn(server: OAuthServer, fetch: EgressStream, tokens: McpTokens): EgressStream {
  const running = renewals.get(tokens) ?? new Map<string, Promise<boolean>>()
  renewals.set(tokens, running)
  const key = signInKey(server)
  return async (url, request) => {
    const send = async (token: string | undefined): Promise<EgressStreamAnswer> =>
      fetch(url, {
        ...request,
        headers: { ...request?.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      })
    const token = await tokenOf(server, tokens)
    const answer = await send(token)
    if (answer.status !== 401) return answer
    await answer.body.cancel()
    const renewal =
      running.get(key) ?? renew(server, fetch, tokens, { token, answer }).finally(() => running.delete(key))
    running.set(key, renewal)
    if (!(await renewal)) throw signInNeeded(server)
    return send(await tokenOf(server, tokens))
  }
}

const tokenOf = async (server: OAuthServer, tokens: McpTokens): Promise<string | undefined> =>
  (await readSignIn(server, tokens)).tokens?.access_token

async function renew(
  server: OAuthServer,
  fetch: EgressStream,
  tokens: McpTokens,
  refused: { readonly token: string | undefined; readonly answer: EgressStreamAnswer },
): Promise<boolean> {
  const signIn = await readSignIn(server, tokens)
  // Another process may have renewed it meanwhile.
  if (signIn.tokens !== undefined && signIn.tokens.access_token !== refused.token) return true
  const isMachine = server.oauth?.grant !== undefined
  if (!isMachine && signIn.tokens?.refresh_token === undefined) return false
  const used = signIn.tokens?.refresh_token
  let written = used
  const save = async (): Promise<void> => {
    const stored = await readSignIn(server, tokens)
    // A person has signed in meanwhile; one who has begun to may finish.
    if (stored.tokens?.refresh_token !== written) return
    written = signIn.tokens?.refresh_token
    await tokens.write(signInKey(server), JSON.stringify({ ...signIn, pending: stored.pending }))
  }
  const { provider } = toProvider(server, signIn, save)
  let isRenewed = false
  const invalidateCredentials: OAuthClientProvider['invalidateCredentials'] = async (what) => {
    const { tokens: stored } = await readSignIn(server, tokens)
    isRenewed = stored !== undefined && stored.refresh_token !== used
    if (isRenewed) throw new Error('Another process has renewed the sign-in.')
    return provider.invalidateCredentials?.(what)
  }
  try {
    const renewing = { ...provider, invalidateCredentials }
    return (await authorise(server, renewing, fetch, {}, refused.answer)) === 'AUTHORIZED'
  } catch (error) {
    if (isRenewed) return true
    throw error
  }
}

function signInNeeded({ name }: OAuthServer): InlayError {
  const message = `The MCP server ${name} asks to sign in: do so on the actions page, or run \`inlay sign-in ${name}\`.`
  return new InlayError('AUTH_ERROR', { message })
}

/**
 * In place of a sign-in that waits. Registers Inlay there, unless there is a client for it.
 * @returns address for the person's browser, which comes back to `redirectUrl`
 * @throws BAD_GATEWAY, UNSUPPORTED when the package is not installed
 */
export async function beginSignIn(
  server: OAuthServer,
  fetch: EgressStream,
  tokens: McpTokens,
  redirectUrl: string,
): Promise<string> {
  const signIn: SignIn = { redirectUrl }
  const { provider, attempt, authorization } = toProvider(server, signIn)
  await authorise(server, provider, fetch, {})
  // The address comes from a foreign server, and a browser or the programs of its computer would open any.
  if (!/^https?:/i.test(authorization.url))
    throw new InlayError('BAD_GATEWAY', {
      message: `The MCP server ${server.name} names no web page to sign in on: its authorization_endpoint has to be an http or https address.`,
      retryable: false,
    })
  const pending = { ...signIn, attempt }
  await tokens.write(signInKey(server), JSON.stringify({ ...(await readSignIn(server, tokens)), pending }))
  return authorization.url
}

/** In any process. @param query of the address that the browser came back to @throws BAD_REQUEST when it was refused */
export async function finishSignIn(
  server: OAuthServer,
  fetch: EgressStream,
  tokens: McpTokens,
  query: URLSearchParams,
): Promise<void> {
  const { attempt, ...signIn } = (await readSignIn(server, tokens)).pending ?? {}
  const code = query.get('code')
  if (code === null || attempt === undefined || query.get('state') !== attempt.state) {
    const reason = query.get('error_description') ?? query.get('error') ?? 'the answer is not of this sign-in'
    throw new InlayError('BAD_REQUEST', { message: `The sign-in was refused: ${reason.slice(0, 300)}. Begin anew.` })
  }
  const { provider } = toProvider(server, signIn, undefined, attempt)
  const iss = query.get('iss')
  await authorise(server, provider, fetch, { authorizationCode: code, ...(iss !== null && { iss }) })
  await tokens.write(signInKey(server), JSON.stringify(signIn))
}

async function authorise(
  { name, url: serverUrl }: OAuthServer,
  provider: OAuthClientProvider,
  fetch: EgressStream,
  answer: { readonly authorizationCode?: string; readonly iss?: string },
  refused?: EgressStreamAnswer,
): Promise<'AUTHORIZED' | 'REDIRECT'> {
  const { auth, extractWWWAuthenticateParams } = await loadClient()
  const challenge = refused ? extractWWWAuthenticateParams(toResponse(refused)) : {}
  const { resourceMetadataUrl, scope } = challenge
  try {
    return await auth(provider, {
      serverUrl,
      ...answer,
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      ...(scope !== undefined && { scope }),
      fetchFn: async (url, init = {}) =>
        toResponse(
          await fetch(String(url), {
            method: init.method ?? 'GET',
            headers: Object.fromEntries(new Headers(init.headers)),
            ...(init.body !== undefined && init.body !== null && { body: String(init.body) }),
          }),
          true,
        ),
    })
  } catch (cause) {
    if (isInlayError(cause)) throw cause
    const reason = cause instanceof Error ? cause.message.slice(0, 500) : 'unknown'
    throw new InlayError('BAD_GATEWAY', { message: `Signing in to the MCP server ${name} failed: ${reason}`, cause })
  }
}

function toResponse({ status, headers, body }: EgressStreamAnswer, hasBody = false): Response {
  return new Response(hasBody && ![204, 205, 304].includes(status) ? body : null, { status, headers })
}
