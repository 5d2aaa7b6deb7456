import type { Member } from './processes.ts'

/** Several processes as their clients see them. */
export interface Installation {
  readonly members: readonly Member[]
  readonly errors: Errors
  readonly random: () => number
}

/** Failures of clients, counted by kind. */
export interface Errors {
  readonly counts: Record<string, number>
  add(error: unknown): void
}

/** An answer that is no success. */
export class Refused extends Error {
  readonly retryAfter: string | null

  constructor(status: number, code: string, retryAfter: string | null) {
    super(`${status} ${code}`)
    this.retryAfter = retryAfter
  }
}

export function createErrors(): Errors {
  const counts: Record<string, number> = {}
  return {
    counts,
    add: (error) => {
      const cause = error instanceof Error ? (error.cause as { code?: string } | undefined)?.code : undefined
      const seen = error instanceof Refused ? error.message : (cause ?? String(error).slice(0, 120))
      counts[seen] = (counts[seen] ?? 0) + 1
    },
  }
}

/** Rejects unless the response is a success. */
export async function accepted(response: Response): Promise<Response> {
  if (response.ok) return response
  const body = (await response.json().catch(() => ({}))) as { error_code?: string; detail?: string }
  throw new Refused(response.status, `${body.error_code}: ${String(body.detail)}`, response.headers.get('retry-after'))
}

/** A process that should be up, as a balancer would choose it. */
export function anyBase({ members, random }: Installation): string {
  const up = members.filter(({ isRunning }) => isRunning)
  const from = up.length > 0 ? up : members
  return from[Math.floor(random() * from.length)]!.base
}

const maxAttempts = 400

/** Tries until it goes well, each time at another process. */
export async function insist<Result>(
  installation: Installation,
  what: string,
  work: (base: string) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(anyBase(installation))
    } catch (error) {
      installation.errors.add(error)
      if (attempt >= maxAttempts) throw new Error(`${what}: given up`, { cause: error })
      await new Promise((resolve) => setTimeout(resolve, Math.min(1_000, 50 * attempt)))
    }
  }
}
