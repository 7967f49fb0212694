// Functions of the tests that start a real gateway; their provider is test/support/fakes/fake-provider.ts.
import './crm/syncs/contacts.js';
import './crm/syncs/deals.js';
import './crm/syncs/notes.js';
import './crm/syncs/scripted.js';
import './crm/syncs/stepwise.js';
import './crm/actions/echo.js';
import './crm/actions/fail.js';
import './crm/actions/inspect.js';
import './crm/actions/leak.js';
import './crm/actions/request.js';
