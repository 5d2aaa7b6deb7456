import { readFileSync } from 'node:fs'
import * as drivers from 'inlay/drivers'
import { optionSchemas } from 'inlay/internal/options/option-schemas'
import { expect, test } from 'vitest'
import { optionsTypeOf } from '../../packages/inlay/scripts/option-types.ts'
import { fillOptions, optionsPage, readOptions } from '../../packages/inlay/scripts/options-docs.ts'

const functions = readOptions()

test('the page of options is current: npm run docs:options', () => {
  const page = readFileSync(optionsPage, 'utf8')
  expect(fillOptions(page)).toBe(page)
})

test('it lists every option that createInlay accepts, and no other', () => {
  const listed = functions.find(({ name }) => name === 'createInlay')?.options.map(({ name }) => name)
  expect(listed?.toSorted()).toEqual(Object.keys(optionSchemas).toSorted())
})

test('it lists every driver that takes options', () => {
  const listed = functions.map(({ name }) => name)
  const taking = Object.keys(drivers).filter((name) =>
    /(?:Options|Config)$/.test(optionsTypeOf(name, 'packages/') ?? ''),
  )
  expect(taking.length).toBeGreaterThan(15)
  expect(taking.filter((name) => !listed.includes(name))).toEqual([])
})

test('every option says what it does', () => {
  const tables = functions.flatMap(({ name, options, nested }) => [{ type: name, options }, ...nested])
  const silent = tables.flatMap(({ type, options }) =>
    options.filter(({ meaning }) => meaning === '').map((option) => `${type}.${option.name}`),
  )
  expect(silent).toEqual([])
})
