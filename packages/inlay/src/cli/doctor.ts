import { access, constants, stat, statfs } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { ModelFact } from '@inlay/agent'
import { ingestionFiguresSchema, isInlayError, isJsonObject } from '@inlay/protocol'
import { modelTestSchema, serviceNoteSchema } from '@inlay/protocol/administration'
import * as v from 'valibot'
import manifest from '../../package.json' with { type: 'json' }
import { usesDataFolder } from '../options/engines.ts'
import { prepareDataFolder } from '../data-folder.ts'
import { misuse, textOption, type Command, type CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { checkDatabase, checkFiles, checkIndex, type ServiceCheck } from './doctor-deep.ts'
import { checkLocks, lockCheck } from './doctor-locks.ts'
import { failed, ok, sentenceOf, warning, type Finding } from './finding.ts'
import type { Output } from './output.ts'
import { jsonOf, remoteOf, withService, type Service } from './service.ts'
import { basePathOf } from '../base-path.ts'
import { shownHost } from './server-address.ts'
import { dataFolderOf } from './with-inlay.ts'
import { flag } from './shared-options.ts'

const folderCheck = 'Data folder'
/** Checks without which all that follow would fail. */
const needed: readonly string[] = [folderCheck, lockCheck]

/** Free space below which indexing may soon fail. */
const lowDiskBytes = 2 ** 30

export const hasFailed = (findings: readonly Finding[]): boolean => findings.some(({ status }) => status === 'failed')

export const doctor: Command = {
  ...commandTable.doctor,
  details: [
    'Checks Node, the data folder, free disk space, the port, the database, the index, the embedding model and the model.',
    'Sends one short question to the model, and probes models of which nothing is recorded; --offline skips both.',
    'Exits with 1 if a check failed.',
    'With --deep also reads the whole database and all files, and compares documents with the index.',
    'It changes nothing, and a server may run meanwhile.',
    'With --tables prints the rows and bytes of each table instead.',
    'With --production also looks at what protects an installation that others can reach: keys, TLS, limits, rights.',
  ],
  words: [0, 0],
  options: {
    offline: flag('do not call models'),
    production: flag('also check what protects an installation that others can reach'),
    tables: flag('print the rows and bytes of each table, and check nothing'),
    deep: flag('also read the whole database, all files and the index'),
  },
  async run(context) {
    const { output } = context
    const findings: Finding[] = []
    if (context.options['deep'] === true && remoteOf(context))
      throw misuse('--deep reads the data itself: run inlay doctor --deep on the machine that has it, without --url.')
    if (context.options['tables'] === true) return (await import('./table-list.ts')).printTables(context)
    const isProduction = context.options['production'] === true
    if (isProduction && remoteOf(context))
      throw misuse('--production reads the settings: run it where the server has them, without --url.')
    const production = isProduction ? [(await import('./doctor-production.ts')).checkProduction] : []
    const local = [checkNode, checkFolder, checkPort, ...production, checkLocks]
    const checks = remoteOf(context) ? [checkService] : [...local, checkService]
    // A database may keep a check for ever.
    const interruption = once(context.signal, 'abort').then(() => Promise.reject(context.signal.reason))
    for (const check of checks) {
      // Whatever needs them would only fail for the same reason, or wait.
      if (check === checkService && hasFailed(findings.filter((finding) => needed.includes(finding.check)))) break
      for (const finding of await Promise.race([check(context), interruption])) {
        findings.push(finding)
        if (!output.isJson) showFinding(output, finding)
      }
    }
    if (output.isJson) output.json(findings)
    return hasFailed(findings) ? 1 : 0
  },
}

const marks = { ok: 'ok', warning: 'warning', failed: 'FAILED' }

export function showFinding(output: Output, { check, status, message, advice }: Finding): void {
  const mark = marks[status]
  const style = status === 'ok' ? 'dim' : status === 'warning' ? 'bold' : 'red'
  output.line(`${output.styled(style, mark)}${' '.repeat(9 - mark.length)}${check}: ${message}`)
  if (advice !== undefined) output.line(`         ${advice}`)
}

async function checkNode(): Promise<readonly Finding[]> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [leastMajor = 0, leastMinor = 0] = (/\d+(?:\.\d+)*/.exec(manifest.engines.node)?.[0] ?? '')
    .split('.')
    .map(Number)
  const isOld = major < leastMajor || (major === leastMajor && minor < leastMinor)
  const message = `Inlay ${manifest.version}, Node ${process.versions.node}`
  return isOld ? [failed('Versions', message, `Install Node ${manifest.engines.node}.`)] : [ok('Versions', message)]
}

async function checkFolder(context: CommandContext): Promise<readonly Finding[]> {
  if (!usesDataFolder(context.settings.options))
    return [ok(folderCheck, 'not used: database, index and files are on servers')]
  const folder = dataFolderOf(context)
  const isNew = (await stat(folder).catch(() => undefined)) === undefined
  // The first command on a folder creates it, and so does this one.
  const fault = await prepareDataFolder(folder)
    .then(() => access(folder, constants.W_OK))
    .then(() => undefined, codeOf)
  if (fault !== undefined) {
    const reason = folderFaults[fault] ?? fault
    const advice = 'Choose a writable folder with --data or INLAY_DATA.'
    return [failed(folderCheck, `${folder} cannot be used: ${reason}.`, advice)]
  }
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const message = `${(free / 2 ** 30).toFixed(1)} GiB free`
  return [
    ok(folderCheck, `${folder}${isNew ? ', created' : ''}`),
    free < lowDiskBytes
      ? warning('Disk', message, 'Free some space: documents are refused on a full disk.')
      : ok('Disk', message),
  ]
}

function codeOf(error: unknown): string {
  const cause = isInlayError(error) ? error.cause : error
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? 'unknown reason'
}

const folderFaults: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EEXIST: 'a file has this name',
  ENOTDIR: 'a part of the path is a file',
}

const checkPort = async (context: CommandContext): Promise<readonly Finding[]> => [await portFinding(context)]

async function portFinding({ settings: { host, port, options } }: CommandContext): Promise<Finding> {
  const healthUrl = `http://${shownHost(host)}:${port}${basePathOf(options)}/health`
  const fault = await new Promise<string | undefined>((resolve) => {
    const server = createServer()
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'unknown reason'))
    server.listen({ port, host }, () => server.close(() => resolve(undefined)))
  })
  switch (fault) {
    case undefined:
      return ok('Port', port === 0 ? `any free one on ${host}` : `${port} on ${host} is free`)
    case 'EADDRINUSE':
      if (await answersHealth(healthUrl)) return ok('Port', `Inlay is running on ${host}, port ${port}`)
      return warning(
        'Port',
        `port ${port} on ${host} is used by another program`,
        'Choose another port with PORT or inlay serve --port.',
      )
    case 'EACCES':
      return warning(
        'Port',
        `this user may not listen on port ${port}`,
        'Choose a port from 1024 on with PORT or inlay serve --port, and let a proxy serve the other one.',
      )
    default:
      return warning(
        'Port',
        `cannot listen on ${host}, port ${port} (${fault})`,
        'Set HOST to a name or address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of its addresses.',
      )
  }
}

async function answersHealth(url: string): Promise<boolean> {
  try {
    // oxlint-disable-next-line eslint/no-restricted-properties -- an address of this machine
    const response = await globalThis.fetch(url, { signal: AbortSignal.timeout(2000) })
    return response.ok && isJsonObject(await response.json())
  } catch {
    return false
  }
}

/** Checks through the API: the same for a data folder and for a server. */
async function checkService(context: CommandContext): Promise<readonly Finding[]> {
  const errors: unknown[] = []
  const onError = (error: unknown): void => void errors.push(error)
  const findings = await withService(context, (service) => checkParts(service, context), {
    creates: true,
    onError,
  }).catch((error: unknown): readonly Finding[] => {
    context.signal.throwIfAborted()
    const check = textOption(context, 'url') === undefined ? 'Database' : 'Server'
    return [failed(check, sentenceOf(error))]
  })
  // The others are among the findings.
  const isFound = (error: unknown): boolean =>
    (isInlayError(error) && toldElsewhere.includes(String(error.data['reason']))) ||
    findings.some(({ message }) => message === sentenceOf(error))
  const others = new Map(errors.filter((error) => !isFound(error)).map((error) => [sentenceOf(error), error]))
  return [...findings, ...[...others].map(([message, error]) => toFinding(message, error))]
}

/** What was reported beside the checks: an engine that is away fails, advice on settings warns. */
function toFinding(message: string, error: unknown): Finding {
  const isAdvice = isInlayError(error) && error.code !== 'SERVICE_UNAVAILABLE' && error.data['isExpected'] === true
  return { check: 'Report', status: isAdvice ? 'warning' : 'failed', message }
}

/** Code of a note that documents are lost from the database. */
const recordsMissing = 'records_missing'

/** Code of what {@link checkDocuments} says more about. */
const embedderMismatch = 'embedder_mismatch'

/** Codes of notes that other checks tell in full. */
const toldElsewhere: readonly string[] = [recordsMissing, embedderMismatch, 'disk_full']

async function checkParts(service: Service, context: CommandContext): Promise<readonly Finding[]> {
  const attempt = (name: string, check: ServiceCheck): Promise<readonly Finding[]> =>
    check(service, context).catch((error: unknown) => {
      context.signal.throwIfAborted()
      const denied = isInlayError(error) && (error.status === 401 || error.status === 403)
      return [failed(name, sentenceOf(error), denied ? keyAdvice : undefined)]
    })
  const findings = [...(await attempt('Ready', checkReadiness))]
  // Without its database, all further checks would fail.
  if (findings.some(({ check, status }) => check === 'Ready' && status === 'failed')) return findings
  const [isDeep, isOffline] = ['deep', 'offline'].map((name) => context.options[name] === true)
  const checks: Readonly<Record<string, ServiceCheck>> = {
    Documents: checkDocuments,
    Notices: checkNotices,
    ...(isDeep && { Integrity: checkDatabase, Files: checkFiles, Passages: checkIndex }),
    ...(!isOffline && { Model: checkModel }),
    Tools: checkTools,
    ...(!isOffline && { 'MCP servers': checkMcpServers }),
  }
  for (const [name, check] of Object.entries(checks)) {
    findings.push(...(await attempt(name, check)))
    // The others would fail for the same reason.
    if (findings.at(-1)?.advice === keyAdvice) break
  }
  return findings
}

const keyAdvice = 'Specify a key with the scope admin with --key or INLAY_API_KEY.'

const checkReadiness: ServiceCheck = async (service) => {
  const { notes } = await jsonOf(service, '/health/ready', readiness)
  const others = notes.filter(({ code }) => !toldElsewhere.includes(code))
  const isFine = others.length === 0
  const message = isFine ? `${service.place} answers` : others.map((note) => note.message).join('; ')
  return [{ check: 'Ready', status: isFine ? 'ok' : 'warning', message }]
}

// Servers of earlier versions send neither.
const readiness = v.object({ notes: v.optional(v.array(serviceNoteSchema), []) })
const notices = v.object({ details: v.optional(v.array(serviceNoteSchema), []) })

const checkDocuments: ServiceCheck = async (service) => {
  const {
    documents,
    index,
    queue_depth: waiting,
    embedder,
  } = await jsonOf(service, '/service-api/ingestion-figures', ingestionFiguresSchema)
  const message = `${documents.indexed} searchable, ${waiting} waiting, ${documents.failed} failed`
  const advice = 'See why: inlay documents list --state failed, then inlay documents show <id>.'
  return [
    documents.failed > 0 ? warning('Documents', message, advice) : ok('Documents', message),
    ok('Index', `${index.rows ?? 0} passages`),
    embedder.is_used
      ? ok('Embedding model', embedder.recorded ?? 'none: keyword search only')
      : warning(
          'Embedding model',
          `the documents use ${embedder.recorded ?? 'none'}, but the settings specify ${embedder.configured ?? 'none'}: search uses keywords only`,
          'Restore the previous setting, or index the documents with the new model: inlay reindex --embedder.',
        ),
  ]
}

const checkNotices: ServiceCheck = async (service) => {
  const { details } = await jsonOf(service, '/service-api/notices', notices)
  const others = details.filter(({ code }) => code !== embedderMismatch)
  return others.map(({ code, message }) =>
    code === recordsMissing ? failed('Records', message) : warning('Notice', message),
  )
}

const checkModel: ServiceCheck = async (service, { signal }) => {
  const { providers, default_text: chosen } = await service.client.models({ signal })
  const provider = providers.find(({ id }) => id === chosen?.provider_id)
  const name = `${provider?.name ?? 'none'}/${chosen?.model_name ?? 'none'}`
  if (provider?.provider === 'extractive')
    return [ok('Model', 'the built-in model, which only quotes; set INLAY_MODEL to use another')]
  const body = JSON.stringify({ model_provider: provider?.name ?? null, model_version: chosen?.model_name ?? null })
  const trial = await jsonOf(service, '/admin/llm/test', modelTestSchema, { method: 'POST', body, signal })
  const seconds = (trial.duration_ms / 1000).toFixed(1)
  if (trial.ok) return [ok('Model', `${name} answered in ${seconds} s`)]
  const advice =
    modelAdvice[trial.error_code ?? ''] ?? 'See inlay help settings for INLAY_MODEL and what belongs to it.'
  return [failed('Model', `${name}: ${trial.error ?? 'no answer'}`, advice)]
}

const checkMcpServers: ServiceCheck = async ({ inlay }) =>
  ((await inlay?.mcp.check()) ?? []).map(({ name, tools, problem }) => {
    const named = tools.map((tool) => tool.name).join(', ')
    const message = `${name}: ${problem ?? `${tools.length} tools${named && ': '}${named}`}`
    return { check: 'MCP server', status: problem === undefined ? 'ok' : 'failed', message: message.slice(0, 500) }
  })

/** Tells what each model does by itself, and finds out what is not recorded, so that nobody's first question waits. */
const checkTools: ServiceCheck = async ({ inlay }, { signal, options }) => {
  const tries = options['offline'] !== true
  const unknown = `${tries ? 'could not be' : 'is not'} probed yet: this is tried before its next answer`
  const findings: Finding[] = []
  for (const { provider, providerType, name } of (await inlay?.agent.models()) ?? []) {
    if (providerType === 'extractive') continue
    signal.throwIfAborted()
    const fact = await inlay?.agent.modelFact({ model_provider: provider, model_version: name }, tries)
    const message = `${provider}/${name} ${fact ? toolsOf(fact) : unknown}`
    const isDoubtful = fact?.from === 'probe' && !fact.callsTools
    const advice = isDoubtful
      ? 'If it does call tools, set INLAY_MODEL_GROUNDING=tools, or grounding in INLAY_MODELS.'
      : undefined
    findings.push((fact || !tries ? ok : warning)('Tools', message, advice))
  }
  return findings
}

function toolsOf({ callsTools, cites, from, recordedAt }: ModelFact): string {
  const calls = callsTools ? `calls tools${cites ? ' and cites' : ', but does not cite'}` : 'calls no tools by itself'
  const day = recordedAt === undefined ? 'just now' : `on ${new Date(recordedAt).toISOString().slice(0, 10)}`
  const sources = { option: 'set by you', name: 'known by name', server: 'told by its server', probe: `probed ${day}` }
  return `${calls} (${sources[from]})`
}

const wrongKey =
  'The key is refused: check INLAY_MODEL_API_KEY, or OPENAI_API_KEY or ANTHROPIC_API_KEY of their models.'

/** What to do about a model that fails, by the code of its error. */
const modelAdvice: Readonly<Record<string, string>> = {
  CONNECTION_ERROR: 'Start the server of the model, or correct its address: INLAY_MODEL_BASE_URL.',
  AUTH_ERROR: wrongKey,
  PERMISSION_DENIED: wrongKey,
  NOT_FOUND: 'Check the name (INLAY_MODEL) and the address (INLAY_MODEL_BASE_URL), which mostly ends in /v1.',
  BUDGET_EXCEEDED: 'The account of the provider has no credit left.',
}
