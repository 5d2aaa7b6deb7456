/** Looks at every type of ours, and exports what holds them, so that declarations have to name them. */
import { createInlay, isInlayError, type InlayOptions, type Principal } from 'inlay'
import * as agentEntry from 'inlay/agent'
import * as client from 'inlay/client'
import * as conformance from '@inlay/conformance'
import * as drivers from 'inlay/drivers'
import * as knowledgeEntry from 'inlay/knowledge'
import * as kysely from 'inlay/kysely'
import * as protocol from 'inlay/protocol'
import * as server from 'inlay/server'
import * as testing from 'inlay/testing'

export const inlay = createInlay()
export const { agent, fetch, keys, knowledge, routes } = inlay
export const parts = () => ({ ...inlay })
export const entries = [agentEntry, client, conformance, drivers, knowledgeEntry, kysely, protocol, server, testing]
export const search = (text: string) => knowledge.search({ text, limit: 10 })
export const caller: Principal = { id: 'ana', scopes: ['chat'] }
export const options: InlayOptions = { index: drivers.lancedbIndex({ folder: 'index' }) }
export const toCode = (error: unknown) => (isInlayError(error) ? error.code : undefined)
