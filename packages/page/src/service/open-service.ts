import { createClient } from '@inlay/client'
import { serviceCalls } from './calls.ts'
import { listingOf, modelOf, readStart, toService } from './service.ts'

export type OpenService = Awaited<ReturnType<typeof openService>>

/** @throws INVALID_TOKEN when it does not take the key, CONNECTION_ERROR when it is not there */
export async function openService(apiKey: string) {
  const baseUrl = document.documentElement.dataset.basePath ?? '/api'
  const start = await readStart(apiKey)
  const isAdmin = start.me.is_superuser
  document.documentElement.dataset.serves = start.version.serves
  const calls = serviceCalls(createClient({ baseUrl, apiKey }), baseUrl, apiKey)
  return {
    service: toService(calls, { apiKey, isAdmin }),
    model: modelOf(start.models),
    /** Agents that can answer; the first is the assistant itself. */
    agents: start.agents ?? [],
    /** The newest conversations. */
    chats: start.chats === null ? { chats: [], next: null } : listingOf(start.chats, start.pinned ?? []),
    projects: start.projects ?? [],
    /** Documents by state; null if the key lacks the permission. */
    counts: start.figures?.documents ?? null,
    /** Calls of the routes of the administration; null if the key may not make them. */
    admin: isAdmin ? calls : null,
  }
}
