import { createClient } from '@inlay/client'
import type { MinimalPersona, Project } from '@inlay/protocol'
import type { Counts } from '../documents/counts.ts'
import { serviceCalls, type ServiceCalls } from './calls.ts'
import {
  listingOf,
  modelOf,
  readStart,
  toService,
  type AnsweringModel,
  type ChatListing,
  type Service,
} from './service.ts'

/** A service that took the key, and the model that answers there, named as what it is. */
export interface OpenService {
  readonly service: Service
  readonly model: AnsweringModel
  /** Agents that can answer; the first is the assistant itself. */
  readonly agents: readonly MinimalPersona[]
  /** The newest conversations. */
  readonly chats: ChatListing
  readonly projects: readonly Project[]
  /** Documents by state; null if the key lacks the permission. */
  readonly counts: Counts | null
  /** Calls of the routes of the administration; null if the key may not make them. */
  readonly admin: ServiceCalls | null
}

/**
 * Opens the service that serves this page.
 * @throws INVALID_TOKEN when it does not take the key, CONNECTION_ERROR when it is not there
 */
export async function openService(apiKey: string): Promise<OpenService> {
  const baseUrl = document.documentElement.dataset.basePath ?? '/api'
  const start = await readStart(apiKey)
  const isAdmin = start.me.is_superuser
  document.documentElement.dataset.serves = start.version.serves
  const calls = serviceCalls(createClient({ baseUrl, apiKey }), baseUrl, apiKey)
  return {
    service: toService(calls, { apiKey, isAdmin }),
    model: modelOf(start.models),
    agents: start.agents ?? [],
    chats: start.chats === null ? { chats: [], next: null } : listingOf(start.chats, start.pinned ?? []),
    projects: start.projects ?? [],
    counts: start.figures?.documents ?? null,
    admin: isAdmin ? calls : null,
  }
}
