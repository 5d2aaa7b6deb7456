import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { postgres } from '@inlay/drivers/postgres'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../agent/setting.ts'
import { poolOf, startPostgres } from '../../stand-in/pglite.ts'
import { testExports } from './export.ts'
import { leaveTraces, newHeldSetting } from './held.ts'

testExports(async () => {
  const database = await startPostgres()
  onTestFinished(() => database.close())
  return { database: postgres({ pool: poolOf(database) }) }
})

test('an export that is killed leaves no folder that looks whole, and the next one is whole', async () => {
  const { folder, open } = newHeldSetting()
  const held = open()
  const { sessionId } = await leaveTraces(held, 'ann')
  await held.inlay.close()
  const db = new DatabaseSync(join(folder, 'inlay.db'))
  db.prepare(
    `insert into inlay_chat_messages (session_id, role, status, created_at, text)
     with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
     select ?, 'user', 'complete', 1, 'message ' || i from n`,
  ).run(sessionId)
  db.close()
  const outside = mkdtempSync(join(tmpdir(), 'inlay-export-'))
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }))
  const startExport = () =>
    spawn(
      process.execPath,
      [
        '--conditions=@inlay/source',
        'packages/inlay/src/cli.ts',
        'export',
        '--all',
        join(outside, 'all'),
        '--data',
        folder,
      ],
      { stdio: 'ignore' },
    )
  const ended = (child: ReturnType<typeof startExport>) => new Promise((resolve) => child.on('exit', resolve))
  const partials = () => readdirSync(outside).filter((name) => name.startsWith('.all.'))
  const child = startExport()
  const end = ended(child)
  await eventually(async () => partials().length > 0)
  child.kill('SIGKILL')
  await end
  expect(partials()).toHaveLength(1)
  expect(readdirSync(outside)).not.toContain('all')
  expect(await ended(startExport())).toBe(0)
  expect(readdirSync(join(outside, 'all'))).toContain('manifest.json')
})
