import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { joinCompany } from '@inlay/drivers/internal/lancedb/writer-presence'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'inlay-company-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('the only one with a folder open', () => {
  it('is alone for as long as nobody comes', async () => {
    const me = await joinCompany(folder)
    const alone = await me.solitude()
    expect(alone).toBeDefined()
    expect(await me.solitude()).toBe(alone)
    await me.leave()
    expect(readdirSync(folder)).toEqual([])
  })

  it('is not alone beside another, and can tell afterwards that one was there', async () => {
    const me = await joinCompany(folder)
    const before = await me.solitude()
    const other = await joinCompany(folder)
    expect(await me.solitude()).toBeUndefined()
    expect(await other.solitude()).toBeUndefined()
    await other.leave()
    const after = await me.solitude()
    expect(after).toBeDefined()
    expect(after).not.toBe(before)
    await me.leave()
  })

  it('clears away what a killed process of this machine left', async () => {
    const me = await joinCompany(folder)
    // No process has the largest number.
    writeFileSync(join(folder, 'dead'), JSON.stringify({ host: hostname(), process: 2 ** 22 + 1 }))
    expect(await me.solitude()).toBeUndefined()
    expect(readdirSync(folder)).toHaveLength(1)
    expect(await me.solitude()).toBeDefined()
    await me.leave()
  })

  it.each(['', '{"host":"another machine","process":1}'])(
    'takes a handle it cannot ask for living until it has lapsed: %j',
    async (text) => {
      const me = await joinCompany(folder)
      const file = join(folder, 'other')
      writeFileSync(file, text)
      await me.solitude()
      expect(readdirSync(folder)).toHaveLength(2)
      const longAgo = new Date(Date.now() - 3_600_000)
      utimesSync(file, longAgo, longAgo)
      await me.solitude()
      expect(readdirSync(folder)).toHaveLength(1)
      await me.leave()
    },
  )
})
