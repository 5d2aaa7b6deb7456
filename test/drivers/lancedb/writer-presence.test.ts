import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openWriterPresence } from '@inlay/drivers/internal/lancedb/writer-presence'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'inlay-presence-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

const longAgo = new Date(Date.now() - 3_600_000)

describe('the sole writer of a folder', () => {
  it('stays so for as long as nobody else opens it', async () => {
    const own = await openWriterPresence(folder)
    const period = await own.soleWriter()
    expect(period).toBeDefined()
    expect(await own.soleWriter()).toBe(period)
    await own.leave()
    expect(readdirSync(folder)).toEqual([])
  })

  it('is not sole beside another, and can tell afterwards that there was one', async () => {
    const own = await openWriterPresence(folder)
    const before = await own.soleWriter()
    const other = await openWriterPresence(folder)
    expect(await own.soleWriter()).toBeUndefined()
    expect(await other.soleWriter()).toBeUndefined()
    await other.leave()
    const after = await own.soleWriter()
    expect(after).toBeDefined()
    expect(after).not.toBe(before)
    await own.leave()
  })

  it('removes the handle of a process that is known to be gone', async () => {
    const processes = { owner: 'host pid:[7]:1:boot.9/own', isGone: (owner: string) => owner.endsWith('boot.5/dead') }
    const own = await openWriterPresence(folder, processes)
    // The same host name and process id: a container that was killed and started again.
    writeFileSync(join(folder, 'dead'), JSON.stringify({ owner: 'host pid:[7]:1:boot.5/dead' }))
    expect(await own.soleWriter()).toBeUndefined()
    expect(readdirSync(folder)).toHaveLength(1)
    expect(await own.soleWriter()).toBeDefined()
    await own.leave()
  })

  it.each(['', '{"host":"another form","process":1}', '{"owner":"host pid:[8]:1:boot.5/other"}'])(
    'keeps a handle that nothing is known of until it lapses: %j',
    async (text) => {
      const own = await openWriterPresence(folder, { owner: 'host pid:[7]:1:boot.9/own', isGone: () => false })
      const file = join(folder, 'other')
      writeFileSync(file, text)
      await own.soleWriter()
      expect(readdirSync(folder)).toHaveLength(2)
      utimesSync(file, longAgo, longAgo)
      await own.soleWriter()
      expect(readdirSync(folder)).toHaveLength(1)
      await own.leave()
    },
  )

  it('is announced again before it writes, when others took it for dead while its process was suspended', async () => {
    const suspended = await openWriterPresence(folder)
    const own = await openWriterPresence(folder)
    for (const file of readdirSync(folder)) utimesSync(join(folder, file), longAgo, longAgo)
    await own.soleWriter()
    expect(await own.soleWriter()).toBeDefined()
    await suspended.commit(async () => ({ version: 1 }))
    expect(await own.soleWriter()).toBeUndefined()
    expect(await suspended.soleWriter()).toBeUndefined()
    await Promise.all([suspended.leave(), own.leave()])
  })
})
