import { access, constants, stat, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { ingestionFiguresSchema, isInlayError, isJsonObject, type ChatFullResponse } from '@inlay/protocol'
import * as v from 'valibot'
import manifest from '../../package.json' with { type: 'json' }
import { textOption, type Command, type CommandContext } from './command.ts'
import { commandTable } from './command-table.ts'
import { jsonOf, remoteOf, withService, type Service } from './service.ts'
import { dataFolderOf } from './with-inlay.ts'

/** Result of one check. */
interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** Instructions for fixing the problem. */
  readonly advice?: string
}

/** Free space below which indexing may soon fail. */
const lowDiskBytes = 2 ** 30

/** Checks that an installation works, and suggests fixes. */
export const doctor: Command = {
  ...commandTable.doctor,
  details: [
    'Checks Node, the data folder, free disk space, the port, the database, the index, the embedding model and the model.',
    'Sends one short question to the model; --offline skips that. Exits with 1 if a check failed.',
  ],
  words: [0, 0],
  options: { offline: { type: 'boolean', meaning: 'do not call the model' } },
  async run(context) {
    const { output } = context
    const marks = { ok: 'ok     ', warning: 'warning', failed: 'FAILED ' }
    const findings: Finding[] = []
    const checks = remoteOf(context) ? [checkService] : [checkNode, checkFolder, checkPort, checkService]
    for (const check of checks)
      for (const finding of await check(context)) {
        findings.push(finding)
        if (output.isJson) continue
        const mark = marks[finding.status]
        const style = finding.status === 'ok' ? 'dim' : finding.status === 'warning' ? 'bold' : 'red'
        output.line(`${output.styled(style, mark)}  ${finding.check}: ${finding.message}`)
        if (finding.advice !== undefined) output.line(`         ${finding.advice}`)
      }
    if (output.isJson) output.json(findings)
    return findings.some(({ status }) => status === 'failed') ? 1 : 0
  },
}

async function checkNode(): Promise<readonly Finding[]> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [leastMajor = 0, leastMinor = 0] = (/\d+(?:\.\d+)*/.exec(manifest.engines.node)?.[0] ?? '')
    .split('.')
    .map(Number)
  const isOld = major < leastMajor || (major === leastMajor && minor < leastMinor)
  const message = `Inlay ${manifest.version}, Node ${process.versions.node}`
  return isOld
    ? [{ check: 'Versions', status: 'failed', message, advice: `Install Node ${manifest.engines.node}.` }]
    : [{ check: 'Versions', status: 'ok', message }]
}

async function checkFolder(context: CommandContext): Promise<readonly Finding[]> {
  const folder = dataFolderOf(context)
  const exists = await stat(folder).catch(() => undefined)
  const existing = exists ? folder : await nearestFolder(folder)
  const isWritable = await access(existing, constants.W_OK).then(
    () => exists === undefined || exists.isDirectory(),
    () => false,
  )
  const folderFinding: Finding = isWritable
    ? { check: 'Data folder', status: 'ok', message: `${folder}${exists ? '' : ', created with the first use'}` }
    : {
        check: 'Data folder',
        status: 'failed',
        message: `${folder} cannot be written.`,
        advice: 'Choose a writable folder with --data or INLAY_DATA.',
      }
  const { bavail, bsize } = await statfs(existing)
  const free = bavail * bsize
  const message = `${(free / 2 ** 30).toFixed(1)} GiB free`
  return free < lowDiskBytes
    ? [
        folderFinding,
        { check: 'Disk', status: 'warning', message, advice: 'Free some space: documents are refused on a full disk.' },
      ]
    : [folderFinding, { check: 'Disk', status: 'ok', message }]
}

async function nearestFolder(folder: string): Promise<string> {
  const parent = dirname(folder)
  return parent === folder || (await stat(parent).catch(() => undefined)) ? parent : nearestFolder(parent)
}

async function checkPort({ settings: { host, port } }: CommandContext): Promise<readonly Finding[]> {
  const taken = await new Promise<boolean>((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(true))
    server.listen({ port, host }, () => server.close(() => resolve(false)))
  })
  if (!taken) return [{ check: 'Port', status: 'ok', message: `${port} on ${host} is free` }]
  const isInlay = await answersHealth(`http://${host}:${port}/api/health`)
  return [
    isInlay
      ? { check: 'Port', status: 'ok', message: `Inlay is running on ${host}, port ${port}` }
      : {
          check: 'Port',
          status: 'warning',
          message: `port ${port} on ${host} is used by another program`,
          advice: 'Choose another port with PORT or inlay serve --port.',
        },
  ]
}

async function answersHealth(url: string): Promise<boolean> {
  try {
    // oxlint-disable-next-line eslint/no-restricted-globals, eslint/no-restricted-properties -- an address of this machine
    const response = await globalThis.fetch(url, { signal: AbortSignal.timeout(2000) })
    return response.ok && isJsonObject(await response.json())
  } catch {
    return false
  }
}

/** Checks through the API: the same for a data folder and for a server. */
async function checkService(context: CommandContext): Promise<readonly Finding[]> {
  try {
    return await withService(context, async (service) => {
      const findings: Finding[] = [...(await attempt(checkReadiness, service, context))]
      // Without its database, all further checks would fail.
      if (findings.some(({ status }) => status === 'failed')) return findings
      for (const check of [checkDocuments, checkNotices]) findings.push(...(await attempt(check, service, context)))
      if (context.options['offline'] !== true) findings.push(...(await attempt(checkModel, service, context)))
      return findings
    })
  } catch (error) {
    const check = textOption(context, 'url') === undefined ? 'Database' : 'Server'
    return [{ check, status: 'failed', message: sentenceOf(error) }]
  }
}

type ServiceCheck = (service: Service, context: CommandContext) => Promise<readonly Finding[]>

async function attempt(check: ServiceCheck, service: Service, context: CommandContext): Promise<readonly Finding[]> {
  try {
    return await check(service, context)
  } catch (error) {
    const denied = isInlayError(error) && (error.status === 401 || error.status === 403)
    const advice = denied ? 'Specify a key with the scope admin with --key or INLAY_API_KEY.' : undefined
    return [
      { check: names.get(check) ?? 'Service', status: 'failed', message: sentenceOf(error), ...(advice && { advice }) },
    ]
  }
}

const checkReadiness: ServiceCheck = async (service) => {
  const { success, message } = v.parse(readiness, await jsonOf(service, '/health/ready'))
  const isFine = success && message === 'ok'
  return [{ check: 'Ready', status: isFine ? 'ok' : 'warning', message: isFine ? `${service.place} answers` : message }]
}

const readiness = v.object({ success: v.boolean(), message: v.string() })

const checkDocuments: ServiceCheck = async (service) => {
  const {
    documents,
    index,
    queue_depth: waiting,
    embedder,
  } = v.parse(ingestionFiguresSchema, await jsonOf(service, '/service-api/ingestion-figures'))
  const message = `${documents.indexed} searchable, ${waiting} waiting, ${documents.failed} failed`
  const advice = 'See why: inlay documents list --state failed, then inlay documents show <id>.'
  return [
    documents.failed > 0
      ? { check: 'Documents', status: 'warning', message, advice }
      : { check: 'Documents', status: 'ok', message },
    { check: 'Index', status: 'ok', message: `${index.rows ?? 0} passages` },
    embedder.is_used
      ? { check: 'Embedding model', status: 'ok', message: embedder.recorded ?? 'none: keyword search only' }
      : {
          check: 'Embedding model',
          status: 'warning',
          message: `the documents use ${embedder.recorded ?? 'none'}, but the settings specify ${embedder.configured ?? 'none'}`,
          advice: 'Restore the previous setting, or index the documents with the new model: inlay reindex --embedder.',
        },
  ]
}

const checkNotices: ServiceCheck = async (service) => {
  const { notices } = v.parse(v.object({ notices: v.array(v.string()) }), await jsonOf(service, '/service-api/notices'))
  return notices.map((message) => ({ check: 'Notice', status: 'warning', message }))
}

const checkModel: ServiceCheck = async ({ client }, { signal }) => {
  const { providers, default_text: chosen } = await client.models({ signal })
  const provider = providers.find(({ id }) => id === chosen?.provider_id)
  const name = `${provider?.name ?? 'none'}/${chosen?.model_name ?? 'none'}`
  if (provider?.provider === 'extractive')
    return [
      {
        check: 'Model',
        status: 'ok',
        message: 'the built-in model, which only quotes; set INLAY_MODEL to use another',
      },
    ]
  const began = performance.now()
  const answer: ChatFullResponse = await client.ask(
    { message: 'Answer with the word OK.', allowed_tool_ids: [] },
    { signal },
  )
  await client.sessions.remove(answer.chat_session_id ?? '', { erase: true }).catch(() => {})
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  return answer.error_msg === null
    ? [{ check: 'Model', status: 'ok', message: `${name} answered in ${seconds} s` }]
    : [
        {
          check: 'Model',
          status: 'failed',
          message: `${name}: ${answer.error_msg}`,
          advice: 'See inlay help settings for INLAY_MODEL, INLAY_MODEL_BASE_URL and INLAY_MODEL_API_KEY.',
        },
      ]
}

const names = new Map<ServiceCheck, string>([
  [checkReadiness, 'Ready'],
  [checkDocuments, 'Documents'],
  [checkNotices, 'Notices'],
  [checkModel, 'Model'],
])

const sentenceOf = (error: unknown): string =>
  isInlayError(error) || error instanceof Error ? error.message : 'something failed.'
