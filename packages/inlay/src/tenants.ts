import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { InlayError, isInlayError } from '@inlay/protocol'
import { checkUnbundled } from './bundled.ts'
import { databaseFile } from './data-folder.ts'
import { openInlay, type Inlay, type OpenedInlay } from './inlay.ts'
import { errorWriter } from './log.ts'
import { checkRows, checkRuntime } from './options/check-options.ts'
import type { InlayOptions } from './options/inlay-options.ts'
import { amount, anyFunction, text, wholeNumber } from './options/kinds.ts'
import type { Rows } from './options/rows.ts'
import type { Telemetry } from '@inlay/telemetry'

export interface TenantsOptions {
  /**
   * Returns the tenant of a request, e.g. by its host name or by the signed-in user. Undefined: the response is 404.
   * Every returned name gets an assistant, so the name must be trusted.
   */
  readonly tenantOf: (request: Request) => string | undefined | Promise<string | undefined>
  /** Folder that contains a data folder for each tenant. Default `.inlay-tenants`. */
  readonly folder?: string | undefined
  /** Options of a tenant's assistant. Data stored outside of its data folder needs a separate location per tenant. */
  readonly options?: ((tenant: string) => InlayOptions | Promise<InlayOptions>) | undefined
  /**
   * Maximum number of open assistants. Above it, the least recently used are closed, except those with a running
   * request, a waiting document, or a request within `idleMs`. Default 100.
   */
  readonly maxOpen?: number | undefined
  /**
   * Time after the last request during which an assistant is never closed, in milliseconds, since answers continue
   * without readers. Default one hour.
   */
  readonly idleMs?: number | undefined
  /** Milliseconds since 1970 UTC. Default: the system clock. */
  readonly now?: (() => number) | undefined
  /** Receives errors of `tenantOf` and `options`; the response is 500. Default: written to standard error. */
  readonly onError?: ((error: unknown, context?: { readonly requestId?: string }) => void) | undefined
}

/** One assistant per tenant. They share no row, file, index or memory. */
export interface Tenants {
  /** Handles a request with the assistant of its tenant; never rejects. */
  fetch(request: Request): Promise<Response>
  /** The assistant of a tenant, opened if necessary. @throws INVALID_INPUT for an invalid name */
  open(tenant: string): Promise<Inlay>
  /** Names of the tenants with an open assistant. */
  readonly opened: readonly string[]
  /**
   * Closes a tenant's assistant and deletes all its data, in its data folder and in engines of its `options`: database,
   * files, index, running answers. Other processes must have closed it before. Can be repeated after a failure. Refused
   * with CONFLICT while somebody in it is under a legal hold.
   */
  remove(tenant: string): Promise<void>
  /**
   * Refuses the requests of a tenant with 403, in all processes within a second and until it is resumed. Running answers
   * end, documents and events wait, and nothing is deleted. Your own code can still use `open(tenant)`.
   */
  suspend(tenant: string): Promise<void>
  /** Ends `suspend`. */
  resume(tenant: string): Promise<void>
  /**
   * Metrics of the tenants that are open in this process and have the option `telemetry`, as Prometheus text with the
   * label `tenant`. Opens none.
   */
  metrics(): Promise<{ readonly type: string; readonly text: string }>
  /** Calls `Inlay.drain` of all assistants; those opened later are not ready either. */
  drain(): Promise<void>
  /** Closes all assistants. */
  close(): Promise<void>
}

interface Tenant extends OpenedInlay {
  lastUsedAt: number
  /** Number of responses whose bodies have not ended. */
  responding: number
}

const tenantsRows: Rows<TenantsOptions> = {
  tenantOf: { check: anyFunction },
  folder: { check: text },
  options: { check: anyFunction },
  maxOpen: { check: wholeNumber(1) },
  idleMs: { check: amount },
  now: { check: anyFunction },
  onError: { check: anyFunction },
}

const tenantName = /^[a-z\d][a-z\d._-]{0,62}$/

/**
 * Manages an assistant per tenant. Assistants are opened on first use.
 * @throws INVALID_INPUT with a line per wrong or unknown option; UNSUPPORTED if this package was bundled
 */
export function createTenants(options: TenantsOptions): Tenants {
  checkRuntime()
  checkUnbundled()
  checkRows('createTenants', options, tenantsRows, ({ tenantOf }) =>
    tenantOf === undefined ? ['tenantOf: is missing; it must be a function that returns the tenant of a request'] : [],
  )
  const pool = new TenantPool(options)
  const onError = options.onError ?? errorWriter(undefined)
  const tenantOf = async (request: Request): Promise<Tenant | Response> => {
    const name = await options.tenantOf(request)
    return name === undefined || !tenantName.test(name) ? noTenant() : pool.open(name)
  }
  return {
    get opened() {
      return pool.names
    },
    open: async (name) => (await pool.open(name)).inlay,
    async fetch(request) {
      const tenant = await tenantOf(request).catch((error: unknown) => failed(error, onError))
      if (tenant instanceof Response) return tenant
      tenant.responding++
      const response = await tenant.inlay.fetch(request)
      void pool.closeUnused().catch(() => {})
      return onceRead(response, () => tenant.responding--)
    },
    remove: (name) => pool.remove(name),
    suspend: async (name) => (await pool.open(name)).suspend(true),
    resume: async (name) => (await pool.open(name)).suspend(false),
    metrics: async () => {
      const { metricsByTenant } = await import('@inlay/telemetry')
      return metricsByTenant(await pool.telemetries())
    },
    drain: () => pool.drain(),
    close: () => pool.close(),
  }
}

class TenantPool {
  readonly #options: TenantsOptions
  readonly #open = new Map<string, Promise<Tenant>>()
  readonly #closing = new Map<string, Promise<void>>()
  readonly #now: () => number
  #isEnding = false
  #isClosed = false

  constructor(options: TenantsOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  get names(): readonly string[] {
    return [...this.#open.keys()]
  }

  async open(name: string): Promise<Tenant> {
    if (!tenantName.test(name)) throw noName()
    // A tenant that is being closed or removed is opened again afterwards.
    while (this.#closing.has(name)) await this.#closing.get(name)?.catch(() => {})
    if (this.#isClosed) throw new InlayError('CLOSED', { message: 'These assistants are closed.' })
    const opening = this.#open.get(name) ?? this.#create(name)
    this.#open.set(name, opening)
    const tenant = await opening.catch((error: unknown) => {
      this.#open.delete(name)
      throw error
    })
    tenant.lastUsedAt = this.#now()
    return tenant
  }

  async remove(name: string): Promise<void> {
    if (!tenantName.test(name)) throw noName()
    await this.#close(name, async () => {
      const options = await this.#options.options?.(name)
      const { database, index, files, sharedRuns } = options ?? {}
      const isElsewhere = database || index || files || sharedRuns
      const { inlay } = this.#make(name, options)
      try {
        if (database || existsSync(databaseFile(this.#folderOf(name)))) await inlay.holds.refuse()
        if (isElsewhere) await inlay.destroy()
      } finally {
        await inlay.close()
      }
      await rm(this.#folderOf(name), { recursive: true, force: true })
    })
  }

  async drain(): Promise<void> {
    this.#isEnding = true
    const all = await Promise.allSettled(this.#open.values())
    await Promise.all(all.map((each) => (each.status === 'fulfilled' ? each.value.inlay.drain() : undefined)))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.names.map((name) => this.#close(name)))
    await Promise.all(this.#closing.values())
  }

  async closeUnused(): Promise<void> {
    const { maxOpen = 100, idleMs = 3_600_000 } = this.#options
    if (this.#open.size <= maxOpen) return
    const all = await Promise.all([...this.#open].map(async ([name, opening]) => ({ name, tenant: await opening })))
    for (const { name, tenant } of all.toSorted((a, b) => a.tenant.lastUsedAt - b.tenant.lastUsedAt)) {
      if (this.#open.size <= maxOpen || tenant.lastUsedAt + idleMs > this.#now()) return
      // Documents of a suspended tenant wait for its resumption.
      const waiting = (await tenant.isSuspended()) ? 0 : await tenant.inlay.knowledge.waiting()
      const isUnused = tenant.responding === 0 && tenant.lastUsedAt + idleMs <= this.#now()
      if (isUnused && waiting === 0) await this.#close(name)
    }
  }

  async telemetries(): Promise<Map<string, Telemetry>> {
    const all = await Promise.all(
      [...this.#open].map(async ([name, opening]) => [name, await opening.catch(() => undefined)] as const),
    )
    const measured = new Map<string, Telemetry>()
    for (const [name, tenant] of all) if (tenant?.telemetry) measured.set(name, await tenant.telemetry())
    return measured
  }

  #folderOf(name: string): string {
    return join(this.#options.folder ?? '.inlay-tenants', name)
  }

  async #create(name: string): Promise<Tenant> {
    const opened = this.#make(name, await this.#options.options?.(name))
    if (this.#isEnding) void opened.inlay.drain()
    return { ...opened, lastUsedAt: this.#now(), responding: 0 }
  }

  #make(name: string, options: InlayOptions | undefined): OpenedInlay {
    return openInlay({ dataFolder: this.#folderOf(name), ...options })
  }

  /** Closes an assistant; opening it again waits until `after` is done. */
  #close(name: string, after: () => Promise<void> = async () => {}): Promise<void> {
    const opening = this.#open.get(name)
    const before = this.#closing.get(name)
    this.#open.delete(name)
    const work = (async () => {
      await before?.catch(() => {})
      await (await opening?.catch(() => undefined))?.inlay.close()
      await after()
    })().finally(() => {
      if (this.#closing.get(name) === work) this.#closing.delete(name)
    })
    this.#closing.set(name, work)
    return work
  }
}

function noName(): InlayError {
  return new InlayError('INVALID_INPUT', {
    message:
      'The name of a tenant has up to 63 lower-case letters, digits and "._-", and begins with a letter or digit.',
  })
}

function noTenant(): Response {
  return Response.json({ error_code: 'NOT_FOUND', detail: 'There is no such tenant.' }, { status: 404 })
}

/** The response if the assistant could not be opened. Errors in the host's options are not shown to callers. */
function failed(thrown: unknown, onError: NonNullable<TenantsOptions['onError']>): Response {
  const requestId = crypto.randomUUID()
  const isMeant = isInlayError(thrown) && thrown.code !== 'INVALID_INPUT'
  const error = isMeant ? thrown : new InlayError('INTERNAL_ERROR', { cause: thrown })
  if (error.status === 500) onError(thrown, { requestId })
  const body = { error_code: error.code, detail: error.message, request_id: requestId }
  return Response.json(body, { status: error.status, headers: { 'x-request-id': requestId } })
}

/** Returns the same response, and calls back once when its body was read or cancelled. */
function onceRead(response: Response, onEnd: () => void): Response {
  if (!response.body) {
    onEnd()
    return response
  }
  let isOpen = true
  // A body that is cancelled ends the read that waits for its next part, too.
  const end = (): void => {
    if (isOpen) onEnd()
    isOpen = false
  }
  const reader = response.body.getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        end()
        controller.close()
      } catch (error) {
        end()
        controller.error(error)
      }
    },
    async cancel(reason) {
      end()
      await reader.cancel(reason)
    },
  })
  return new Response(body, response)
}
