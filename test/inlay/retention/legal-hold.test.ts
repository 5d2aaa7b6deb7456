import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import { Kysely } from 'kysely'
import { createTenants } from 'inlay'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../life/process.ts'
import { testLegalHolds } from './legal-hold.ts'

testLegalHolds(async () => ({
  options: {},
  db: (folder) => {
    const db = new Kysely({ dialect: nodeSqlite({ file: `${folder}/inlay.db` }) })
    onTestFinished(() => db.destroy())
    return db
  },
}))

test('a tenant with a legal hold is not removed, open or closed, until the hold is lifted', async () => {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  const tenants = createTenants({ tenantOf: () => 'acme', folder: folder.path })
  onTestFinished(() => tenants.close())
  const inlay = await tenants.open('acme')
  const { id } = await inlay.holds.place({ person: null, reason: 'Case 7' })
  for (let attempt = 0; attempt < 2; attempt++)
    await expect(tenants.remove('acme')).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(existsSync(join(folder.path, 'acme', 'inlay.db'))).toBe(true)
  await (await tenants.open('acme')).holds.lift(id)
  await tenants.remove('acme')
  expect(existsSync(join(folder.path, 'acme'))).toBe(false)
})
