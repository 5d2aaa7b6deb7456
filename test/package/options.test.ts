import { readFileSync } from 'node:fs'
import * as transport from '@inlay/client/ai-sdk'
import * as conversations from '@inlay/conversations'
import * as mastra from '@inlay/mastra'
import * as inlay from 'inlay'
import * as agent from 'inlay/agent'
import * as client from 'inlay/client'
import * as drivers from 'inlay/drivers'
import * as knowledge from 'inlay/knowledge'
import * as page from 'inlay/page'
import * as server from 'inlay/server'
import * as testing from 'inlay/testing'
import { optionRows } from 'inlay/internal/options/option-rows'
import { expect, test } from 'vitest'
import { optionsTypeOf } from '../../packages/inlay/scripts/option-types.ts'
import { fillOptions, optionsPage, readOptions } from '../../packages/inlay/scripts/options-docs.ts'

const functions = readOptions()

/** Entries that hosts import. */
const entries: readonly object[] = [
  inlay,
  agent,
  client,
  conversations,
  drivers,
  knowledge,
  mastra,
  page,
  server,
  testing,
  transport,
]

test('the page of options is current: npm run docs:options', () => {
  const page = readFileSync(optionsPage, 'utf8')
  expect(fillOptions(page)).toBe(page)
})

test('it lists every option that createInlay accepts, and no other', () => {
  const listed = functions.find(({ name }) => name === 'createInlay')?.options.map(({ name }) => name)
  expect(listed?.toSorted()).toEqual(Object.keys(optionRows).toSorted())
})

test('it lists every public function that takes options', () => {
  const listed = functions.map(({ name }) => name)
  const taking = entries.flatMap((entry) =>
    Object.keys(entry).filter((name) => /(?:Options|Config)$/.test(optionsTypeOf(name, 'packages/') ?? '')),
  )
  expect(taking.length).toBeGreaterThan(30)
  const missing = taking.filter((name) => !listed.includes(name))
  expect(missing, 'name them in `functions` of packages/inlay/scripts/options-docs.ts').toEqual([])
})

test('every option says what it does', () => {
  const tables = functions.flatMap(({ name, options, nested }) => [{ type: name, options }, ...nested])
  const silent = tables.flatMap(({ type, options }) =>
    options.filter(({ meaning }) => meaning === '').map((option) => `${type}.${option.name}`),
  )
  expect(silent).toEqual([])
})
