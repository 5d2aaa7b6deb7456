/** A second process: reads a counter and writes it back, incremented, as often as its argument says. */
import { Kysely } from 'kysely'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'

const [file, times] = process.argv.slice(2)
const db = new Kysely<{ note: { size: number } }>({ dialect: nodeSqlite({ file: file! }) })
for (let n = 0; n < Number(times); n++) {
  await db.transaction().execute(async (trx) => {
    const { size } = await trx.selectFrom('note').select('size').executeTakeFirstOrThrow()
    await trx
      .updateTable('note')
      .set({ size: size + 1 })
      .execute()
  })
}
await db.destroy()
