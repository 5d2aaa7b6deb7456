import * as v from 'valibot'

export interface LocalModelServer {
  /** Product name, e.g. `Ollama`. */
  readonly name: string
  /** URL of its OpenAI-compatible API. */
  readonly baseUrl: string
  /** Available models, those in memory first; at least one. */
  readonly models: readonly string[]
}

export interface LocalModelOptions {
  /** Timeout per server, in milliseconds. Default 400. */
  readonly timeoutMs?: number
  /** Ports to try instead of the usual ones. */
  readonly ports?: Partial<Record<LocalModelKind, number>>
}

type LocalModelKind = 'ollama' | 'lmStudio' | 'llamaCpp'

interface KnownServer {
  readonly kind: LocalModelKind
  readonly name: string
  readonly port: number
  /** Path that lists the models. */
  readonly path: string
  /** Names of the models in the response; undefined if the response is that of another server. */
  readonly read: (answer: unknown) => readonly string[] | undefined
}

const isEmbedder = (name: string): boolean => /embed|minilm|\bbge\b/i.test(name)

const ollamaSchema = v.object({
  models: v.array(v.object({ name: v.string(), details: v.optional(v.object({ family: v.optional(v.string()) })) })),
})
const lmStudioSchema = v.object({
  data: v.array(v.object({ id: v.string(), type: v.string(), state: v.optional(v.string()) })),
})
const llamaCppSchema = v.object({ data: v.array(v.object({ id: v.string(), owned_by: v.literal('llamacpp') })) })

function reading<Schema extends v.GenericSchema>(
  schema: Schema,
  namesIn: (answer: v.InferOutput<Schema>) => readonly string[],
): KnownServer['read'] {
  return (answer) => {
    const { success, output } = v.safeParse(schema, answer)
    return success ? namesIn(output) : undefined
  }
}

const knownServers: readonly KnownServer[] = [
  {
    kind: 'ollama',
    name: 'Ollama',
    port: 11434,
    path: '/api/tags',
    read: reading(ollamaSchema, ({ models }) =>
      models.filter(({ name, details }) => !isEmbedder(name) && !/bert/.test(details?.family ?? '')).map(nameOf),
    ),
  },
  {
    kind: 'lmStudio',
    name: 'LM Studio',
    port: 1234,
    path: '/api/v0/models',
    read: reading(lmStudioSchema, ({ data }) => {
      const answering = data.filter(({ type }) => type === 'llm' || type === 'vlm')
      return answering.sort((left, right) => loadedFirst(left.state) - loadedFirst(right.state)).map(({ id }) => id)
    }),
  },
  {
    kind: 'llamaCpp',
    name: 'llama.cpp',
    port: 8080,
    path: '/v1/models',
    read: reading(llamaCppSchema, ({ data }) => data.map(({ id }) => id).filter((id) => !isEmbedder(id))),
  },
]

/**
 * Ollama, LM Studio and llama.cpp, on their usual ports. Connects only to the loopback address, and only lists models.
 */
export async function findLocalModels(options: LocalModelOptions = {}): Promise<readonly LocalModelServer[]> {
  const { timeoutMs = 400, ports: given = {} } = options
  const ports = { ollama: ollamaPort(process.env['OLLAMA_HOST']), ...given }
  const answers = await Promise.all(
    knownServers.map((server) => ask(server, ports[server.kind] ?? server.port, timeoutMs)),
  )
  return answers.filter((server) => server !== undefined)
}

/** Port of Ollama from its own environment variable: `127.0.0.1:11500`, `:11500`, `http://0.0.0.0:11500`. */
function ollamaPort(host = ''): number | undefined {
  const port = /:(\d{1,5})\/?$/.exec(host.trim())?.[1]
  return port === undefined ? undefined : Number(port)
}

async function ask(server: KnownServer, port: number, timeoutMs: number): Promise<LocalModelServer | undefined> {
  const origin = `http://127.0.0.1:${port}`
  try {
    // oxlint-disable-next-line no-restricted-globals -- not a URL from outside: it is this machine's own
    const response = await fetch(origin + server.path, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
    const models = response.ok ? server.read(await response.json()) : undefined
    if (models === undefined || models.length === 0) return undefined
    return { name: server.name, baseUrl: `${origin}/v1`, models }
  } catch {
    // No server, or another one, is listening.
    return undefined
  }
}

/** A line per server: what was found, and the settings that use it. @param command follows them, e.g. `npm start` */
export function localModelLines(servers: readonly LocalModelServer[], command: string): string[] {
  return servers.map(({ name, baseUrl, models }) => {
    const [first = ''] = models
    const others = models.length > 1 ? ` and ${models.length - 1} more` : ''
    return (
      `${name} is running on this machine with ${first}${others}, but it is not used. To use it: ` +
      `INLAY_MODEL=${shellWord(first)} INLAY_MODEL_BASE_URL=${baseUrl} ${command}`
    )
  })
}

const nameOf = ({ name }: { readonly name: string }): string => name
const loadedFirst = (state: string | undefined): number => (state === 'loaded' ? 0 : 1)

/** Quotes a name from another program unless it is safe in a shell. */
function shellWord(text: string): string {
  return /^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`).replace(/[^\x20-\x7e]/g, '?')}'`
}
