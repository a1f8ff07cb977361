import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

import me.marcosassuncao.servsim.SimEvent;
import me.marcosassuncao.servsim.Simulation;
import me.marcosassuncao.servsim.event.EventListener;
import me.marcosassuncao.servsim.job.Job;
import me.marcosassuncao.servsim.job.Reservation;
import me.marcosassuncao.servsim.job.WorkUnit;
import me.marcosassuncao.servsim.job.WorkUnitEvent;
import me.marcosassuncao.servsim.scheduler.AbstractScheduler;
import me.marcosassuncao.servsim.scheduler.AggrBackfillScheduler;
import me.marcosassuncao.servsim.scheduler.ConsBackfillScheduler;
import me.marcosassuncao.servsim.scheduler.ResConsBackfillScheduler;
import me.marcosassuncao.servsim.server.Server;
import me.marcosassuncao.servsim.util.EventFileReader;

/**
 * Runs servsim on a trace and leaves its schedule as a trace. (Its own SwfWorkloadReader takes the job's number for its run time, and a
 * job that had to wait under AggrBackfillScheduler is never handed back to its owner: so jobs are read here, and starts are listened for.)
 *
 * <p>TRACE NODES easy|conservative|reservations LEAD SCHEDULE: run times are estimates; a reservation is asked for LEAD seconds after its
 * submission, for its run time.
 */
final class ServsimRun extends EventFileReader implements EventListener<WorkUnitEvent> {
    private final boolean reserve;
    private final long lead;
    private final BufferedWriter schedule;
    private final Map<WorkUnit, String[]> waiting = new HashMap<>();
    private Server server;

    private ServsimRun(String trace, boolean reserve, long lead, BufferedWriter schedule) {
        super("trace", trace);
        this.reserve = reserve;
        this.lead = lead;
        this.schedule = schedule;
    }

    public static void main(String[] arguments) throws IOException {
        String policy = arguments[2];
        AbstractScheduler scheduler = switch (policy) {
            case "easy" -> new AggrBackfillScheduler();
            case "conservative" -> new ConsBackfillScheduler();
            case "reservations" -> new ResConsBackfillScheduler();
            default -> throw new IllegalArgumentException("no policy " + policy);
        };
        try (BufferedWriter schedule = Files.newBufferedWriter(Path.of(arguments[4]))) {
            ServsimRun user = new ServsimRun(arguments[0], policy.equals("reservations"), Long.parseLong(arguments[3]), schedule);
            user.server = Server.builder().setScheduler(scheduler).setCapacity(Integer.parseInt(arguments[1]))
                .setWorkUnitEventListener(user).build();
            new Simulation() {
                @Override
                public void onConfigure() {
                    registerEntity(user.server);
                    registerEntity(user);
                }
            }.run();
        }
    }

    @Override
    public boolean doLineProcessing(int line, String[] record) {
        if (record[0].startsWith(";")) {
            return false;
        }
        long submit = Long.parseLong(record[1]);
        long run = Long.parseLong(record[3]);
        int nodes = Integer.parseInt(record[4]);
        if (reserve) {
            Reservation wanted = new Reservation(submit + lead, run, nodes);
            wanted.setOwnerEntityId(getId());
            waiting.put(wanted, record);
            send(server.getId(), submit, SimEvent.Type.RESERVATION_REQUEST, wanted);
        } else {
            Job job = new Job(run, nodes);
            waiting.put(job, record);
            submitJob(server.getId(), submit, job);
        }
        return false;
    }

    @Override
    public void event(WorkUnitEvent event) {
        String[] record = event.subject().getStatus() == WorkUnit.Status.IN_EXECUTION ? waiting.remove(event.subject()) : null;
        if (record != null) {
            record[2] = Long.toString(event.time() - Long.parseLong(record[1]));
            try {
                schedule.write(String.join(" ", record));
                schedule.newLine();
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }
    }

    @Override
    public boolean test(WorkUnitEvent event) {
        return true;
    }

    @Override
    public void onJobReceived(int source, Job job) {
    }

    @Override
    public void onReservationResponse(int source, Reservation answer) {
    }

    @Override
    public void onReservationComplete(int source, Reservation reservation) {
    }

    @Override
    public void doFinalProcessing() {
    }
}
